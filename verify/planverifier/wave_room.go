package planverifier

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/hostports"
)

// replacedPod is an evicted pod of a wave and its replacement. The old pod is on its node, the new
// one on the node where the plan expects it.
type replacedPod struct{ old, next *corev1.Pod }

// checkWaveOrders checks that each replacement of a wave fits on its node in every order of the
// wave. Each of the other pods may not be evicted yet, may still terminate or may be gone, and its
// replacement may be placed or not. The pod itself may terminate or be gone, whichever is better: the
// confidence of a move says how probable that is.
func (r *verifier) checkWaveOrders(calls []call) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.move.WithoutPlace() })
	evicted := map[*corev1.Pod]bool{}
	wave := make([]replacedPod, 0, len(calls))
	for _, c := range calls {
		next := c.pod.DeepCopy()
		next.Labels = replacementLabels(c.pod, r.chainOf(c.pod).lowest())
		next.Spec.NodeName, next.Status = c.move.To, corev1.PodStatus{}
		wave = append(wave, replacedPod{c.pod, next})
		evicted[c.pod] = true
	}
	var settled []*corev1.Pod // pods that the wave does not move
	for _, name := range sortedKeys(r.livePods) {
		if p := r.livePods[name]; !evicted[p] && !isTerminal(p) && r.isBound(p) {
			settled = append(settled, p)
		}
	}
	checkWavePlaces(r, calls, wave, settled)
	for i, c := range calls {
		if !r.isBound(wave[i].next) {
			continue // checkMoveFields reports it
		}
		others := slices.Delete(slices.Clone(wave), i, i+1)
		next, withOwn := wave[i].next, append(slices.Clip(settled), c.pod)
		unmet := r.unmetAffinity(next, settled, others)
		if unmet != "" && r.unmetAffinity(next, withOwn, others) == "" {
			unmet = ""
		}
		for _, why := range []string{r.noRoom(next, settled, others), r.unevenSpread(next, settled, others), unmet, r.noVolume(next, settled, others)} {
			if why != "" {
				r.report(c.move, NotInEveryOrder, "on %s %s, in an order of wave %d", c.move.To, why, c.move.Wave)
			}
		}
	}
}

// withAll adds the old and the new pods of a wave to settled, as if all old pods still terminated
// and all new pods were placed.
func (r *verifier) withAll(settled []*corev1.Pod, wave []replacedPod) []*corev1.Pod {
	out := slices.Clone(settled)
	for _, w := range wave {
		for _, p := range []*corev1.Pod{w.old, w.next} {
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
func (r *verifier) noRoom(pod *corev1.Pod, settled []*corev1.Pod, wave []replacedPod) string {
	allocatable := r.nodes[pod.Spec.NodeName].Status.Allocatable
	requested := cluster.RequestsOnNode(pod, r.features)
	total := requested.DeepCopy()
	pods := int64(1)
	for _, p := range r.withAll(settled, wave) {
		if r.excludes(pod, p) || r.excludes(p, pod) {
			return "required anti-affinity keeps it apart from " + key(p)
		}
		if p.Spec.NodeName != pod.Spec.NodeName {
			continue
		}
		pods++
		for name, amount := range cluster.RequestsOnNode(p, r.features) {
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

// excludes reports whether a required anti-affinity term of p excludes q from p's domain.
func (r *verifier) excludes(p, q *corev1.Pod) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		here, ok := r.nodes[p.Spec.NodeName].Labels[t.TopologyKey]
		there, known := r.nodes[q.Spec.NodeName].Labels[t.TopologyKey]
		if ok && known && here == there && r.termSelects(t, p, q) {
			return true
		}
	}
	return false
}
