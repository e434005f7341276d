package fit

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/hostports"
)

// Replaced is an evicted pod of a wave and its replacement. The old pod is on its node, the new
// one on the node where the plan expects it.
type Replaced struct{ Old, Next *corev1.Pod }

// WhyNot returns why the replacement of a pod does not fit on its node in some order of a wave;
// empty if it fits in every order. Each of the other pods may not be evicted yet, may still
// terminate or may be gone, and its replacement may be placed or not. The pod itself may terminate
// or be gone, whichever is better. The settled pods stay.
func (r *Cluster) WhyNot(pod Replaced, settled []*corev1.Pod, others []Replaced) (why []string) {
	next, withOwn := pod.Next, append(slices.Clip(settled), pod.Old)
	unmet := r.unmetAffinity(next, settled, others)
	if unmet != "" && r.unmetAffinity(next, withOwn, others) == "" {
		unmet = ""
	}
	for _, x := range []string{r.noRoom(next, settled, others), r.unevenSpread(next, settled, others), unmet, r.noVolume(next, settled, others)} {
		if x != "" {
			why = append(why, x)
		}
	}
	return why
}

// withAll adds the old and the new pods of a wave to settled, as if all old pods still terminated
// and all new pods were placed.
func (r *Cluster) withAll(settled []*corev1.Pod, wave []Replaced) []*corev1.Pod {
	out := slices.Clone(settled)
	for _, w := range wave {
		for _, p := range []*corev1.Pod{w.Old, w.Next} {
			if r.isBound(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// noRoom returns why the pod does not fit on its node while all other pods of the wave hold both
// their old and their new place; empty if it fits. Requests, host ports and required anti-affinity
// only add up, so a pod that fits there fits in every order. A terminating pod keeps all three.
func (r *Cluster) noRoom(pod *corev1.Pod, settled []*corev1.Pod, wave []Replaced) string {
	allocatable := r.Nodes[pod.Spec.NodeName].Status.Allocatable
	requested := cluster.RequestsOnNode(pod, r.Features)
	total := requested.DeepCopy()
	pods := int64(1)
	for _, p := range r.withAll(settled, wave) {
		if r.Excludes(pod, p) || r.Excludes(p, pod) {
			return "required anti-affinity keeps it apart from " + key(p)
		}
		if p.Spec.NodeName != pod.Spec.NodeName {
			continue
		}
		pods++
		for name, amount := range cluster.RequestsOnNode(p, r.Features) {
			sum := total[name]
			sum.Add(amount)
			total[name] = sum
		}
		if hostports.Shared(pod, p) {
			return "it shares a host port with " + key(p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		if sum, has := total[name], allocatable[name]; !requested.Name(name, "").IsZero() && sum.Cmp(has) > 0 {
			return "pods would request " + sum.String() + " of " + has.String() + " " + string(name)
		}
	}
	if has, ok := allocatable[corev1.ResourcePods]; ok && pods > has.Value() {
		return "there are too many pods"
	}
	return ""
}

// Excludes reports whether a required anti-affinity term of p excludes q from p's domain.
func (r *Cluster) Excludes(p, q *corev1.Pod) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		here, ok := r.Nodes[p.Spec.NodeName].Labels[t.TopologyKey]
		there, known := r.Nodes[q.Spec.NodeName].Labels[t.TopologyKey]
		if ok && known && here == there && r.TermSelects(t, p, q) {
			return true
		}
	}
	return false
}
