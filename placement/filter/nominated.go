package filter

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// nominatedWithPriority returns the pods nominated to the node with the same or a higher priority
// than the replacement. Pods of other schedulers are skipped, because a scheduler only knows its
// own nominated pods.
func nominatedWithPriority(r *cycle.Attempt, n cluster.NodeID) (out []cluster.PodID) {
	mine := scheduler.NameOf(r.Replacement.Class.Sample.Object)
	for _, p := range r.Model.Nominated[n] {
		c := r.Model.PodClass[p]
		if p != r.Victim && r.Model.PodNode[p] == cluster.NoNode && c.Priority >= r.Replacement.Class.Priority &&
			scheduler.NameOf(c.Sample.Object) == mine {
			out = append(out, p)
		}
	}
	return out
}

// RefusedWithNominatedPods checks a feasible node again, with the nominated pods on the node. The
// result is the filter that refuses the node; empty if the node passes. The check overwrites the
// counts of the attempt.
func RefusedWithNominatedPods(r *cycle.Attempt, n cluster.NodeID) scheduler.Filter {
	list := nominatedWithPriority(r, n)
	if len(list) == 0 {
		return ""
	}
	for _, p := range list {
		r.Model.AdjustPod(p, n, 1)
		adjustEmptySelectorCounts(r, p, n, 1)
	}
	again := cycle.NewAttempt(r.Model, r.Scratch, r.Replacement, r.Victim)
	again.Nominated, again.SkipInterPod, again.ClaimInUse = list, r.NoInterPodTerms, ""
	refused := RefusedBy(&again, int(n))
	for _, p := range list {
		r.Model.AdjustPod(p, n, -1)
		adjustEmptySelectorCounts(r, p, n, -1)
	}
	return refused
}

// adjustEmptySelectorCounts counts a nominated pod for constraints with an empty selector. A
// constraint with an empty selector counts no pods on nodes, but the scheduler adds the nominated
// pods.
func adjustEmptySelectorCounts(r *cycle.Attempt, p cluster.PodID, n cluster.NodeID, by int32) {
	if r.Model.PodClass[p].Namespace != r.Replacement.Class.Namespace {
		return
	}
	seen := map[*model.PodCounter]bool{}
	for _, c := range r.Replacement.Spread.Hard {
		if c.EmptySelector && !seen[c.Pods] {
			seen[c.Pods] = true
			c.Pods.Add(n, by)
		}
	}
}
