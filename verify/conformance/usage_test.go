package conformance

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
)

// usageVersion is the API version of a Usage.
const usageVersion = "evenkeel.io/v1alpha1"

// addUsage adds the usage of a case as Evenkeel would have measured it: one sample at the time of
// recording.
func addUsage(o *cluster.Objects, c *recordedCase, conf *config.Config) {
	switch {
	case c.Metrics.Prometheus != nil:
		o.Usage = prometheusUsage(o, c, conf)
	case len(c.Metrics.Nodes) > 0:
		o.Usage = metricsServerUsage(o, c)
	}
}

func newUsage(source string, now time.Time) *cluster.Usage {
	return &cluster.Usage{APIVersion: usageVersion, Kind: "Usage", Source: source, Statistic: "latest", SampledAt: now, Samples: 1}
}

func amounts(list corev1.ResourceList) map[string]int64 {
	return map[string]int64{"cpu": list.Cpu().MilliValue(), "memory": list.Memory().Value()}
}

// metricsServerUsage converts the NodeMetrics and PodMetrics. Pods without PodMetrics have no
// measurement.
func metricsServerUsage(o *cluster.Objects, c *recordedCase) *cluster.Usage {
	u := newUsage("metricsServer", c.Now)
	for _, n := range c.Metrics.Nodes {
		u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: n.Name, At: c.Now, Used: amounts(n.Usage)})
	}
	for _, m := range c.Metrics.Pods {
		i := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool { return p.Namespace == m.Namespace && p.Name == m.Name })
		if i < 0 {
			continue
		}
		used := map[string]int64{}
		for _, container := range m.Containers {
			for name, amount := range amounts(container.Usage) {
				used[name] += amount
			}
		}
		u.Pods = append(u.Pods, cluster.PodUsage{Namespace: m.Namespace, Name: m.Name, UID: string(o.Pods[i].UID),
			Node: o.Pods[i].Spec.NodeName, At: c.Now, Used: used})
	}
	return u
}

// prometheusUsage converts the samples. The label instance names the node, and the value is a
// ratio. The configuration names the resource of the query. The cases have no usage of pods, as
// from a source that measures only nodes.
func prometheusUsage(o *cluster.Objects, c *recordedCase, conf *config.Config) *cluster.Usage {
	u := newUsage("prometheus", c.Now)
	u.NodesOnly = true
	for resource, query := range conf.Load.Prometheus.Queries {
		if query != c.Metrics.Prometheus.Query {
			continue
		}
		for _, s := range c.Metrics.Prometheus.Samples {
			name, unit := s.Metric["instance"], float64(1_000_000)
			i := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
			switch {
			case i < 0:
				continue
			case resource == "cpu":
				unit = float64(o.Nodes[i].Status.Allocatable.Cpu().MilliValue())
			case resource == "memory":
				unit = float64(o.Nodes[i].Status.Allocatable.Memory().Value())
			}
			u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: name, At: c.Now, Used: map[string]int64{resource: int64(math.Round(s.Value * unit))}})
		}
	}
	return u
}
