package conformance

import (
	"maps"

	"sigs.k8s.io/yaml"
)

// policy is the part of a v1alpha2 DeschedulerPolicy that the cases need.
type policy struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// NodeSelector selects the nodes that the plugin was given.
	NodeSelector string            `json:"nodeSelector,omitempty"`
	PerNode      *int              `json:"maxNoOfPodsToEvictPerNode,omitempty"`
	PerNS        *int              `json:"maxNoOfPodsToEvictPerNamespace,omitempty"`
	Total        *int              `json:"maxNoOfPodsToEvictTotal,omitempty"`
	Providers    []metricsProvider `json:"metricsProviders,omitempty"`
	Profiles     []profile         `json:"profiles"`
}

type metricsProvider struct {
	Source     string             `json:"source"`
	Prometheus *prometheusAddress `json:"prometheus,omitempty"`
}

type prometheusAddress struct {
	URL string `json:"url"`
}

type profile struct {
	Name         string         `json:"name"`
	PluginConfig []pluginConfig `json:"pluginConfig"`
	Plugins      struct {
		Deschedule enabledPlugins `json:"deschedule,omitzero"`
		Balance    enabledPlugins `json:"balance,omitzero"`
	} `json:"plugins"`
}

type enabledPlugins struct {
	Enabled []string `json:"enabled,omitempty"`
}

// balancePlugins are the plugins of the extension point balance; all others belong to deschedule.
var balancePlugins = map[string]bool{
	"LowNodeUtilization": true, "HighNodeUtilization": true, "RemoveDuplicates": true,
	"RemovePodsViolatingTopologySpreadConstraint": true,
}

// guardPlugins try to evict every pod, so that only DefaultEvictor decides which pods go.
var guardPlugins = []pluginConfig{
	{Name: "PodLifeTime", Args: map[string]any{"maxPodLifeTimeSeconds": 1}},
	{Name: "RemoveFailedPods", Args: map[string]any{"minPodLifetimeSeconds": 1}},
}

// policyOf returns the policy of a case as a file: one profile with DefaultEvictor and the plugin.
func policyOf(c *recordedCase) ([]byte, error) {
	p := policy{APIVersion: "descheduler/v1alpha2", Kind: "DeschedulerPolicy",
		PerNode: c.Limits.Node, PerNS: c.Limits.Namespace, Total: c.Limits.Total}
	switch {
	case c.Metrics.Prometheus != nil:
		p.Providers = []metricsProvider{{Source: "Prometheus", Prometheus: &prometheusAddress{"http://prometheus:9090"}}}
	case len(c.Metrics.Nodes) > 0:
		p.Providers = []metricsProvider{{Source: "KubernetesMetrics"}}
	}
	if len(c.NodesPassed) > 0 {
		p.NodeSelector = passedNode
	}
	plugins := []pluginConfig{c.Plugin}
	if c.isGuardCase() {
		plugins = guardPlugins
	}
	pr := profile{Name: "recorded", PluginConfig: append([]pluginConfig{{"DefaultEvictor", evictorArgs(c)}}, plugins...)}
	for _, plugin := range plugins {
		enabled := &pr.Plugins.Deschedule
		if balancePlugins[plugin.Name] {
			enabled = &pr.Plugins.Balance
		}
		enabled.Enabled = append(enabled.Enabled, plugin.Name)
	}
	p.Profiles = []profile{pr}
	return yaml.Marshal(p)
}

// passedNode is the label of the nodes that the plugin was given.
const passedNode = "conformance.example.com/passed"

// evictorArgs returns the arguments of DefaultEvictor. Its stage Filter reads neither nodeFit nor
// namespaceLabelSelector.
func evictorArgs(c *recordedCase) map[string]any {
	args := maps.Clone(c.Evictor)
	if c.Expect.Filter == "Filter" {
		delete(args, "nodeFit")
		delete(args, "namespaceLabelSelector")
	}
	return args
}
