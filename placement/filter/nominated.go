package filter

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// nominatedWithPriority lists the pods nominated to the node to which the newcomer must leave
// their place: of the same or a higher priority. A scheduler knows only the pods
// that are its own to place.
func nominatedWithPriority(r *cycle.Attempt, n cluster.NodeID) (out []cluster.PodID) {
	mine := scheduler.NameOf(r.Replacement.Class.Sample.Object)
	for _, p := range r.Model.Nominated[n] {
		c := r.Model.PodClass[p]
		if p != r.Victim && r.Model.PodNode[p] == cluster.NoNode && c.Priority >= r.Replacement.Class.Priority && scheduler.NameOf(c.Sample.Object) == mine {
			out = append(out, p)
		}
	}
	return out
}

// RefusedWithNominatedPods judges a node that passes once more, as if the pods that
// wait for it stood there. It disturbs the counts of the round.
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

// adjustEmptySelectorCounts counts a waiting pod for constraints with an empty
// selector: they count no pod that stands, but the scheduler adds this one.
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

// nominatedPodsLeaveClaims is VolumeRestrictions for claims of one pod only beside waiting
// pods: those are looked at by name, and only where the newcomer names disks.
func nominatedPodsLeaveClaims(r *cycle.Attempt) bool {
	if len(r.Replacement.Disks) == 0 {
		return true
	}
	for _, name := range r.Replacement.Volumes.ExclusiveClaims {
		if slices.ContainsFunc(r.Nominated, func(p cluster.PodID) bool { return slices.Contains(r.Model.PodClass[p].Claims, name) }) {
			return false
		}
	}
	return true
}
