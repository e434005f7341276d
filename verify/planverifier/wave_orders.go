package planverifier

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
)

// checkWaveOrders checks that each replacement of a wave fits on its node in every order of the
// wave, and has room on a node other than its own, unless it may return, wherever the scheduler
// places the other replacements. The confidence of a move says how probable it is that its pod
// still terminates.
func (r *verifier) checkWaveOrders(calls []call) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.move.WithoutPlace() })
	evicted := map[*corev1.Pod]bool{}
	wave := make([]fit.Replaced, 0, len(calls))
	for _, c := range calls {
		next := c.pod.DeepCopy()
		next.Labels = replacementLabels(c.pod, r.live.chainOf(c.pod).lowest())
		next.Spec.NodeName, next.Status = c.move.To, corev1.PodStatus{}
		wave = append(wave, fit.Replaced{Old: c.pod, Next: next})
		evicted[c.pod] = true
	}
	var settled []*corev1.Pod // pods that the wave does not move
	for _, name := range sortedKeys(r.live.pods) {
		if p := r.live.pods[name]; !evicted[p] && !isTerminal(p) && r.before.isBound(p) {
			settled = append(settled, p)
		}
	}
	for i, c := range calls {
		others := slices.Delete(slices.Clone(wave), i, i+1)
		may := func(node string) bool { return node != c.move.From || r.mayReturn(c.move) }
		if why := r.before.fit.WhyNowhere(wave[i].Next, may, settled, others); why != "" {
			r.report(c.move, NotInEveryOrder, "in wave %d: %s", c.move.Wave, why)
		}
		if !r.before.isBound(wave[i].Next) {
			continue // checkMoveFields reports it
		}
		for _, why := range r.before.fit.WhyNot(wave[i], settled, others) {
			r.report(c.move, NotInEveryOrder, "on %s %s, in an order of wave %d", c.move.To, why, c.move.Wave)
		}
	}
}
