package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// places are the nodes on which a replacement of a wave may land. They depend only on the start of
// the wave, so they hold for every prediction of its landing.
type places struct {
	pod cluster.PodID
	// acceptable lists the acceptable nodes at the beginning of the wave.
	acceptable []cluster.NodeID
	// possible has, by node, all nodes with room at the beginning of the wave. The replacement may also
	// land on a node that a pod of the wave leaves.
	possible []bool
}

// placesOf returns the places of a pod of the wave, or of a pod that may join it.
func (w *WaveStates) placesOf(pod cluster.PodID, displaced bool) *places {
	key := placesKey{pod, displaced}
	if pl := w.places[key]; pl != nil {
		return pl
	}
	at := w.Start
	l := Landing{predicted: at.Model.PredictOdds(pod)}
	pl := &places{pod: pod, acceptable: at.AcceptableNodes(pod, &l, displaced), possible: make([]bool, len(at.Snapshot.Nodes))}
	for n := range l.predicted.Gone.FeasibleSet.All() {
		pl.possible[n] = true
	}
	w.places[key] = pl
	return pl
}

type placesKey struct {
	pod       cluster.PodID
	displaced bool
}

// KeepsPlaces reports whether each replacement of the wave, and that of the pod if it joins, keeps an
// acceptable node with room wherever the scheduler places the others.
func (w *WaveStates) KeepsPlaces(pod cluster.PodID, displaced bool) bool {
	if len(w.members) == 0 {
		return true
	}
	all := make([]*places, 0, len(w.members)+1)
	for _, member := range w.members {
		all = append(all, w.placesOf(member, w.displaced[member]))
	}
	all = append(all, w.placesOf(pod, displaced))
	left := map[cluster.NodeID]bool{w.Start.Model.NodeOf(pod): true}
	for n := range w.terminating {
		left[n] = true
	}
	return !slices.ContainsFunc(all, func(pl *places) bool { return !w.keepsPlace(pl, all, left) })
}

// keepsPlace reports whether the others cannot take the room on all acceptable nodes of a
// replacement. Each of them lands on one node, so they can only if the least numbers that fill each
// node are together at most the number of others. The parameter left has the nodes that pods leave.
func (w *WaveStates) keepsPlace(pl *places, all []*places, left map[cluster.NodeID]bool) bool {
	others := len(all) - 1
	if len(pl.acceptable) > others {
		return true // each node needs at least one
	}
	needed := 0
	var near []cluster.PodID
	for _, n := range pl.acceptable {
		near = near[:0]
		for _, o := range all {
			if o != pl && (o.possible[n] || left[n]) {
				near = append(near, o.pod)
			}
		}
		fill := w.Start.Model.LeastToFill(n, pl.pod, near)
		if fill > len(near) {
			return true
		}
		needed += fill
	}
	return needed > others
}
