package descheduler

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// policy is a random policy with one plugin.
type policy struct {
	plugin  string
	rule    rule
	evictor map[string]any
	top     map[string]any
}

// rule holds the arguments of a plugin, as a policy has them. Each plugin uses some of the fields.
type rule struct {
	Namespaces    *namespaces    `json:"namespaces,omitempty"`
	LabelSelector *labelSelector `json:"labelSelector,omitempty"`

	Thresholds             map[string]float64 `json:"thresholds,omitempty"`
	TargetThresholds       map[string]float64 `json:"targetThresholds,omitempty"`
	UseDeviationThresholds bool               `json:"useDeviationThresholds,omitempty"`
	NumberOfNodes          int                `json:"numberOfNodes,omitempty"`
	EvictableNamespaces    *namespaces        `json:"evictableNamespaces,omitempty"`

	ExcludeOwnerKinds       []string    `json:"excludeOwnerKinds,omitempty"`
	OwnerKinds              *namespaces `json:"ownerKinds,omitempty"`
	Constraints             []string    `json:"constraints,omitempty"`
	NodeAffinityType        []string    `json:"nodeAffinityType,omitempty"`
	IncludePreferNoSchedule bool        `json:"includePreferNoSchedule,omitempty"`
	ExcludedTaints          []string    `json:"excludedTaints,omitempty"`
	IncludedTaints          []string    `json:"includedTaints,omitempty"`
	PodRestartThreshold     int32       `json:"podRestartThreshold,omitempty"`
	States                  []string    `json:"states,omitempty"`
	MaxPodLifeTimeSeconds   int64       `json:"maxPodLifeTimeSeconds,omitempty"`
	MinPodLifetimeSeconds   int64       `json:"minPodLifetimeSeconds,omitempty"`
	Reasons                 []string    `json:"reasons,omitempty"`
	ExitCodes               []int32     `json:"exitCodes,omitempty"`
}

// namespaces is a list of what is included, or of what is excluded.
type namespaces struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

func (n *namespaces) has(name string) bool {
	if n == nil {
		return true
	}
	return !slices.Contains(n.Exclude, name) && (len(n.Include) == 0 || slices.Contains(n.Include, name))
}

type labelSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

func (s *labelSelector) matches(labels map[string]string) bool {
	if s != nil {
		for k, v := range s.MatchLabels {
			if labels[k] != v {
				return false
			}
		}
	}
	return true
}

// balancePlugins are the plugins of the extension point balance; the others belong to deschedule.
var balancePlugins = []string{"LowNodeUtilization", "HighNodeUtilization", "RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint"}

// text returns the policy as YAML.
func (p *policy) text(t *testing.T) string {
	point := "deschedule"
	if slices.Contains(balancePlugins, p.plugin) {
		point = "balance"
	}
	doc := map[string]any{"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": []any{map[string]any{
		"name": "default", "plugins": map[string]any{point: map[string]any{"enabled": []string{p.plugin}}},
		"pluginConfig": []any{map[string]any{"name": "DefaultEvictor", "args": p.evictor}, map[string]any{"name": p.plugin, "args": p.rule}}}}}
	for k, v := range p.top {
		doc[k] = v
	}
	out, err := yaml.Marshal(doc)
	check(t, err)
	return string(out)
}

// scheduler returns the part of a configuration that describes the scheduler. HighNodeUtilization
// requires one that fills nodes.
func (p *policy) scheduler() string {
	if p.plugin == "HighNodeUtilization" {
		return "placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}\n"
	}
	return ""
}

// newPolicy returns a random policy with the plugin.
func newPolicy(r *rand.Rand, plugin string) *policy {
	p := &policy{plugin: plugin, evictor: map[string]any{}, top: map[string]any{}}
	p.setRule(r)
	p.setEvictor(r)
	if r.IntN(6) == 0 {
		p.top[pick(r, "maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")] = 2 + r.IntN(6)
	}
	return p
}

func (p *policy) setEvictor(r *rand.Rand) {
	e := p.evictor
	if r.IntN(2) == 0 {
		e["nodeFit"] = true
	}
	if r.IntN(3) == 0 {
		e["minReplicas"] = 2 + r.IntN(2)
	}
	if r.IntN(3) == 0 {
		e["podProtections"] = map[string]any{"defaultDisabled": []string{"PodsWithLocalStorage"}}
	}
	switch r.IntN(12) {
	case 0:
		e["labelSelector"] = labelSelector{map[string]string{"tier": "front"}}
	case 1:
		e["namespaceLabelSelector"] = labelSelector{map[string]string{"team": "red"}}
	case 2:
		e["priorityThreshold"] = map[string]any{"value": 10000}
	case 3:
		e["priorityThreshold"] = map[string]any{"name": "high"}
	case 4:
		e["minPodAge"] = "24h"
	}
}

func (p *policy) setRule(r *rand.Rand) {
	x := &p.rule
	utilization := p.plugin == "LowNodeUtilization" || p.plugin == "HighNodeUtilization"
	switch r.IntN(6) {
	case 0:
		n := &namespaces{Exclude: []string{"ns0"}}
		if !utilization {
			x.Namespaces = pick(r, n, &namespaces{Include: []string{"ns1", "ns2"}})
		} else {
			x.EvictableNamespaces = n
		}
	case 1:
		if !utilization && p.plugin != "RemoveDuplicates" {
			x.LabelSelector = &labelSelector{map[string]string{"tier": pick(r, "front", "back")}}
		}
	}
	switch p.plugin {
	case "LowNodeUtilization":
		x.setLowNodeUtilization(r)
	case "HighNodeUtilization":
		x.Thresholds = shares(r, 25, 45)
	case "RemoveDuplicates":
		x.ExcludeOwnerKinds = pick(r, nil, nil, []string{"StatefulSet"}, []string{"Job"})
	case "RemovePodsViolatingTopologySpreadConstraint":
		x.Constraints = pick(r, nil, []string{"DoNotSchedule"}, []string{"DoNotSchedule", "ScheduleAnyway"})
	case "RemovePodsViolatingNodeAffinity":
		required, preferred := "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
		x.NodeAffinityType = pick(r, []string{required}, []string{required}, []string{preferred}, []string{required, preferred})
	case "RemovePodsViolatingNodeTaints":
		x.IncludePreferNoSchedule = r.IntN(3) == 0
		switch r.IntN(5) {
		case 0:
			x.ExcludedTaints = []string{"dedicated=a"}
		case 1:
			x.IncludedTaints = []string{pick(r, "dedicated", "dedicated=b")}
		}
	case "RemovePodsHavingTooManyRestarts":
		x.PodRestartThreshold = int32(3 + r.IntN(20))
		x.States = pick(r, nil, nil, []string{"CrashLoopBackOff"}, []string{"Running"})
	case "PodLifeTime":
		x.MaxPodLifeTimeSeconds = int64(3600 * (24 + r.IntN(44)))
		x.States = pick(r, nil, []string{"Running"})
		x.OwnerKinds = pick(r, nil, nil, nil, &namespaces{Exclude: []string{"StatefulSet"}}, &namespaces{Include: []string{"ReplicaSet", "Job"}})
	case "RemoveFailedPods":
		x.MinPodLifetimeSeconds = int64(pick(r, 60, 1800, 3600))
		x.Reasons = pick(r, nil, nil, []string{"NodeAffinity", "OOMKilled"})
		x.ExitCodes = pick(r, nil, nil, []int32{1})
		x.ExcludeOwnerKinds = pick(r, nil, nil, []string{"Job"})
	}
}

func (x *rule) setLowNodeUtilization(r *rand.Rand) {
	least, most := 55, 80
	if x.UseDeviationThresholds = r.IntN(4) == 0; x.UseDeviationThresholds {
		x.Thresholds, least, most = shares(r, 5, 15), 5, 15
	} else {
		x.Thresholds = shares(r, 20, 50)
	}
	x.TargetThresholds = map[string]float64{}
	for _, k := range slices.Sorted(maps.Keys(x.Thresholds)) {
		x.TargetThresholds[k] = float64(least+r.IntN(most-least+1)) + 0.3
	}
	x.NumberOfNodes = pick(r, 0, 0, 0, 1)
}

// shares returns percentages for some resources. They are not whole, so that no node is exactly at
// a threshold: such a node is below it for the descheduler, and not below it for its documentation
// and for Evenkeel.
func shares(r *rand.Rand, least, most int) map[string]float64 {
	out := map[string]float64{}
	for _, k := range pick(r, []string{"cpu"}, []string{"cpu", "memory"}, []string{"cpu", "memory", "pods"}) {
		out[k] = float64(least+r.IntN(most-least+1)) + 0.3
	}
	return out
}
