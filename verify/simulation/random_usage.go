package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// useAge is the usual age of samples. staleAge exceeds every maxAge that tests configure.
const (
	useAge   = 30 * time.Second
	staleAge = time.Hour
)

// RandomUsage adds random usage of nodes and pods to a cluster, mostly unrelated to their requests. Some nodes and
// pods have no usage, or stale usage. Some measured pods no longer exist, and nodes also have usage that belongs
// to no pod. Some nodes have been above the target of strategy hot for 3 samples.
func RandomUsage(r *rand.Rand, o *cluster.Objects) {
	u := &cluster.Usage{APIVersion: "evenkeel.io/v1alpha1", Kind: "Usage", Source: "metricsServer", Statistic: "p90", WindowSeconds: 300,
		Samples: 20, SampledAt: o.TakenAt.Add(-useAge)}
	sum := map[string]map[string]int64{}
	for _, n := range o.Nodes {
		sum[n.Name] = map[string]int64{"cpu": n.Status.Allocatable.Cpu().MilliValue() / 50, "memory": n.Status.Allocatable.Memory().Value() / 50}
	}
	for _, p := range o.Pods {
		on := sum[p.Spec.NodeName]
		if on == nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		m := cluster.PodUsage{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Spec.NodeName, Used: randomPodUsage(r, p)}
		if p.Status.StartTime != nil && p.Status.StartTime.After(u.SampledAt) {
			continue
		}
		for name, n := range m.Used {
			on[name] += n
		}
		if r.IntN(30) > 0 {
			u.Pods = append(u.Pods, m)
		}
	}
	for i, n := range o.Nodes {
		if r.IntN(8) == 0 { // a measured pod has left since
			gone := cluster.PodUsage{Namespace: "ns0", Name: fmt.Sprintf("gone-%d", i), UID: fmt.Sprintf("gone-%d", i), Node: n.Name,
				Used: map[string]int64{"cpu": int64(r.IntN(1500))}}
			sum[n.Name]["cpu"] += gone.Used["cpu"]
			u.Pods = append(u.Pods, gone)
		}
		m := cluster.NodeUsage{Name: n.Name, At: u.SampledAt, Used: sum[n.Name]}
		switch r.IntN(40) {
		case 0:
			continue
		case 1:
			m.At = o.TakenAt.Add(-staleAge)
		}
		u.Nodes = append(u.Nodes, m)
		if above := r.IntN(5); above > 0 {
			u.Marks = append(u.Marks, cluster.Mark{Watch: "hot", Node: n.Name, Resource: "cpu", Hot: above > 1, Samples: min(3, above),
				Required: 3, Since: u.SampledAt})
		}
	}
	o.Usage = u
}

// AddStalls adds the resource stall to random usage: the ratio of the time in which processes of a node or a pod wait.
// Pods may wait at the same time, so their ratios can exceed that of their node. Some values are missing.
func AddStalls(r *rand.Rand, u *cluster.Usage) {
	stalls := map[string]float64{}
	for i := range u.Pods {
		m := &u.Pods[i]
		ratio := 0.4 * r.Float64() * r.Float64()
		stalls[m.Node] = 1 - (1-stalls[m.Node])*(1-ratio)
		if m.Used = maps.Clone(m.Used); r.IntN(30) > 0 {
			m.Used["stall"] = int64(1e6 * ratio)
		}
	}
	for i := range u.Nodes {
		n := &u.Nodes[i]
		if n.Used = maps.Clone(n.Used); r.IntN(30) > 0 {
			n.Used["stall"] = int64(1e6 * stalls[n.Name])
		}
	}
}

// randomPodUsage returns usage that is mostly small, and sometimes far above the requests of the pod.
func randomPodUsage(r *rand.Rand, p *corev1.Pod) map[string]int64 {
	var cpu, memory int64
	for i := range p.Spec.Containers {
		requests := p.Spec.Containers[i].Resources.Requests
		cpu += requests.Cpu().MilliValue()
		memory += requests.Memory().Value()
	}
	x := r.Float64()
	return map[string]int64{"cpu": int64(float64(cpu+50) * 3 * x * x), "memory": int64(float64(memory+64<<20) * r.Float64())}
}
