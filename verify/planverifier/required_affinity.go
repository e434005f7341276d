package planverifier

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// checkRequiredAffinity checks required pod affinity. A wave must not evict the last pod in a
// domain that satisfies a term of a remaining pod, if the guard of config.yaml or of its strategy protects it.
func (r *verifier) checkRequiredAffinity(calls []call) {
	protects := func(c call) bool {
		s := r.rules.strategyOf(c.move)
		return r.rules.Protect["PodsRequiredByAffinity"] || s != nil && slices.Contains(s.Protect, "PodsRequiredByAffinity")
	}
	if !slices.ContainsFunc(calls, protects) {
		return
	}
	gone := map[string]bool{}
	for _, c := range calls {
		gone[key(c.pod)] = true
	}
	for _, p := range r.live.pods {
		if gone[key(p)] || isTerminal(p) || isTerminating(p) || !r.before.isBound(p) || p.Spec.Affinity == nil || p.Spec.Affinity.PodAffinity == nil {
			continue
		}
		for _, t := range p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if r.before.fit.TermSelects(t, p, p) {
				continue
			}
			var took *call
			for i, c := range calls {
				if protects(c) && r.before.satisfiesTerm(t, p, c.pod) {
					took = &calls[i]
				}
			}
			left := slices.ContainsFunc(slices.Collect(maps.Values(r.live.pods)), func(q *corev1.Pod) bool {
				return !gone[key(q)] && r.before.satisfiesTerm(t, p, q)
			})
			if took != nil && !left {
				r.report(took.move, plan.RequiredByAffinity, "the required affinity of %s needs the pod in the same %s", key(p), t.TopologyKey)
			}
		}
	}
}

// satisfiesTerm reports whether pod q, on its current node, satisfies an affinity term of pod p.
func (w *clusterIndex) satisfiesTerm(t corev1.PodAffinityTerm, p, q *corev1.Pod) bool {
	if isTerminal(q) || isTerminating(q) || !w.isBound(q) || !w.fit.TermSelects(t, p, q) {
		return false
	}
	here, ok := w.nodes[p.Spec.NodeName].Labels[t.TopologyKey]
	there, known := w.nodes[q.Spec.NodeName].Labels[t.TopologyKey]
	return ok && known && here == there
}
