package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// nominatedBefore lists the pods nominated to the node to which the newcomer must leave
// their place: of the same or a higher priority. A scheduler knows only the pods
// that are its own to place.
func nominatedBefore(r *Attempt, n cluster.NodeID) (out []cluster.PodID) {
	mine := NameOf(r.Replacement.class.sample.Object)
	for _, p := range r.Model.Nominated[n] {
		c := r.Model.PodClass[p]
		if p != r.Victim && r.Model.PodNode[p] == cluster.NoNode && c.priority >= r.Replacement.class.priority && NameOf(c.sample.Object) == mine {
			out = append(out, p)
		}
	}
	return out
}

// RefusedBesideNominated judges a node that passes once more, as if the pods that
// wait for it stood there. It disturbs the counts of the round.
func RefusedBesideNominated(r *Attempt, n cluster.NodeID) Filter {
	list := nominatedBefore(r, n)
	if len(list) == 0 {
		return ""
	}
	for _, p := range list {
		r.Model.shiftPod(p, n, 1)
		shiftEmptySelectors(r, p, n, 1)
	}
	again := NewAttempt(r.Model, r.Buf, r.Replacement, r.Victim)
	again.Nominated, again.SkipInterPod, again.ClaimInUse = list, r.InterPodIdle, ""
	refused := RefusedBy(&again, int(n))
	for _, p := range list {
		r.Model.shiftPod(p, n, -1)
		shiftEmptySelectors(r, p, n, -1)
	}
	return refused
}

// shiftEmptySelectors counts a waiting pod for constraints with an empty
// selector: they count no pod that stands, but the scheduler adds this one.
func shiftEmptySelectors(r *Attempt, p cluster.PodID, n cluster.NodeID, by int32) {
	if r.Model.PodClass[p].namespace != r.Replacement.class.namespace {
		return
	}
	seen := map[*PodCounter]bool{}
	for _, c := range r.Replacement.spread.hard {
		if c.EmptySelector && !seen[c.pods] {
			seen[c.pods] = true
			c.pods.Add(n, by)
		}
	}
}

// claimsBeside is VolumeRestrictions for claims of one pod only beside waiting
// pods: those are looked at by name, and only where the newcomer names disks.
func claimsBeside(r *Attempt) bool {
	if len(r.Replacement.disks) == 0 {
		return true
	}
	for _, name := range r.Replacement.Volumes.ExclusiveClaims {
		if slices.ContainsFunc(r.Nominated, func(p cluster.PodID) bool { return slices.Contains(r.Model.PodClass[p].claims, name) }) {
			return false
		}
	}
	return true
}
