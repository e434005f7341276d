package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// nominatedBefore lists the pods nominated to the node to which the newcomer must leave
// their place: of the same or a higher priority. A scheduler knows only the pods
// that are its own to place.
func nominatedBefore(r *round, n cluster.NodeID) (out []cluster.PodID) {
	mine := schedulerOf(r.in.class.sample.Object)
	for _, p := range r.m.nominated[n] {
		c := r.m.classOf[p]
		if p != r.pod && r.m.node[p] == cluster.NoNode && c.priority >= r.in.class.priority && schedulerOf(c.sample.Object) == mine {
			out = append(out, p)
		}
	}
	return out
}

// refusedBesideNominated judges a node that passes once more, as if the pods that
// wait for it stood there. It disturbs the counts of the round.
func refusedBesideNominated(r *round, n cluster.NodeID) Filter {
	list := nominatedBefore(r, n)
	if len(list) == 0 {
		return ""
	}
	for _, p := range list {
		r.m.shift(p, n, 1)
		shiftEmptySelectors(r, p, n, 1)
	}
	again := newRound(r.m, r.buf, r.in, r.pod)
	again.beside, again.noInterPod, again.claim = list, r.idle, ""
	refused := refusedBy(&again, int(n))
	for _, p := range list {
		r.m.shift(p, n, -1)
		shiftEmptySelectors(r, p, n, -1)
	}
	return refused
}

// shiftEmptySelectors counts a waiting pod for constraints with an empty
// selector: they count no pod that stands, but the scheduler adds this one.
func shiftEmptySelectors(r *round, p cluster.PodID, n cluster.NodeID, by int32) {
	if r.m.classOf[p].namespace != r.in.class.namespace {
		return
	}
	seen := map[*counter]bool{}
	for _, c := range r.in.spread.hard {
		if c.everything && !seen[c.pods] {
			seen[c.pods] = true
			c.pods.add(n, by)
		}
	}
}

// claimsBeside is VolumeRestrictions for claims of one pod only beside waiting
// pods: those are looked at by name, and only where the newcomer names disks.
func claimsBeside(r *round) bool {
	if len(r.in.disks) == 0 {
		return true
	}
	for _, name := range r.in.vol.oncePod {
		if slices.ContainsFunc(r.beside, func(p cluster.PodID) bool { return slices.Contains(r.m.classOf[p].claims, name) }) {
			return false
		}
	}
	return true
}
