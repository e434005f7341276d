package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// maxExactWave is the largest number of other replacements for which keepsPlace examines each of them.
// In a larger wave, it assumes that all are as large as the largest.
const maxExactWave = 32

// places are the nodes on which a replacement of a wave may land. They depend only on the start of
// the wave, so they hold for every prediction of its landing.
type places struct {
	pod cluster.PodID
	// possible are all nodes with room at the beginning of the wave. The replacement may also land
	// on a node that a pod of the wave leaves. accepts reports whether the goals accept a landing
	// on a node at the beginning of the wave.
	possible prediction.NodeSet
	accepts  func(cluster.NodeID) bool
	// atLeast replacements that request at most bound are needed to leave no room on the acceptable
	// nodes. If partly is set, the sum does not include all acceptable nodes, so more are needed.
	atLeast int64
	partly  bool
	bound   *cluster.Resources
}

// acceptable yields the possible nodes where the goals accept a landing.
func (pl *places) acceptable(yield func(cluster.NodeID) bool) {
	for n := range pl.possible.InOrder() {
		if pl.accepts(n) && !yield(n) {
			return
		}
	}
}

type placesKey struct {
	pod  cluster.PodID
	kind Kind
}

// placesOf returns the places of a pod of the wave, or of a pod that may join it.
func (w *Wave) placesOf(m Move) *places {
	if pl := w.placesAtStart[placesKey{m.Pod, m.Kind}]; pl != nil {
		return pl
	}
	possible := w.Start.Model.FeasibleOnceGone(m.Pod)
	return w.addPlaces(m, &possible)
}

// addPlaces caches the places of a pod. The parameter possible are the nodes with room for it in Start. Hints can
// change the places, so they are not cached if steering is enabled.
func (w *Wave) addPlaces(m Move, possible *prediction.NodeSet) *places {
	key := placesKey{m.Pod, m.Kind}
	pl := w.placesAtStart[key]
	if pl == nil {
		pl = &places{pod: m.Pod, possible: possible.Clone(), accepts: w.Start.accepts(m)}
	}
	if !w.Start.Options.Steers() {
		w.placesAtStart[key] = pl
	}
	return pl
}

// keepsPlaces reports whether each replacement of the wave, and that of the pod if it joins, keeps an
// acceptable node with room wherever the scheduler places the others.
func (w *Wave) keepsPlaces(m Move) bool {
	if len(w.members) == 0 || !kinds[m.Kind].placed {
		return true
	}
	joining := w.placesOf(m)
	largest := w.largestWith(m.Pod)
	return w.keepsPlace(joining, joining, largest) &&
		!slices.ContainsFunc(w.membersPlaces, func(pl *places) bool { return !w.keepsPlace(pl, joining, largest) })
}

// largestWith returns, for each resource, the largest request of the wave and the pod.
func (w *Wave) largestWith(pod cluster.PodID) *cluster.Resources {
	r := placement.RequestsOf(w.Start.Model, pod)
	if w.largest == nil {
		return r
	}
	all := *w.largest
	all.MilliCPU, all.MemoryBytes = max(all.MilliCPU, r.MilliCPU), max(all.MemoryBytes, r.MemoryBytes)
	all.EphemeralStorageByte = max(all.EphemeralStorageByte, r.EphemeralStorageByte)
	grew := all.MilliCPU > w.largest.MilliCPU || all.MemoryBytes > w.largest.MemoryBytes ||
		all.EphemeralStorageByte > w.largest.EphemeralStorageByte
	for name, amount := range r.Extended {
		if amount > w.largest.Extended[name] {
			all.Extended, grew = w.largest.Clone().Extended, true
			break
		}
	}
	if !grew {
		return w.largest
	}
	for name, amount := range r.Extended {
		if amount > w.largest.Extended[name] {
			if all.Extended == nil {
				all.Add(cluster.Resources{Extended: r.Extended})
			}
			all.Extended[name] = amount
		}
	}
	return &all
}

// keepsPlace reports whether the others cannot take the room on all acceptable nodes of a
// replacement if joining joins the wave. Each of them lands on one node, so they can only if the
// least numbers that fill each node are together at most the number of others. The sum stops well
// above this number, so that it stays valid while the wave doubles.
func (w *Wave) keepsPlace(pl, joining *places, largest *cluster.Resources) bool {
	others := len(w.members)
	if pl.bound != largest || pl.partly && pl.atLeast <= int64(others) {
		pl.bound, pl.atLeast, pl.partly = largest, 0, false
		for n := range pl.acceptable {
			if pl.partly = pl.atLeast > int64(2*others); pl.partly {
				break
			}
			pl.atLeast += placement.AtLeastToFill(w.Start.Model, n, pl.pod, largest)
		}
	}
	return pl.atLeast > int64(others) || others <= maxExactWave && w.keepsPlaceExactly(pl, joining)
}

// keepsPlaceExactly is keepsPlace with the nodes and requests of each of the others. One that pl's
// replacement excludes takes a node alone, so each of them takes one of the nodes that most are
// needed to fill.
func (w *Wave) keepsPlaceExactly(pl, joining *places) bool {
	m, others, excluded := w.Start.Model, len(w.members), 0
	all := append(slices.Clip(w.membersPlaces), joining)
	for _, o := range all {
		if o != pl && placement.ExcludeEachOther(m, o.pod, pl.pod) {
			excluded++
		}
	}
	var fills []int // by acceptable node; others + 1 if the others cannot fill it
	var near []cluster.PodID
	for n := range pl.acceptable {
		near = near[:0]
		for _, o := range all {
			if o != pl && (o.possible.Has(n) || w.terminating[n] > 0 || m.Cluster.NodeOf(joining.pod) == n) {
				near = append(near, o.pod)
			}
		}
		fill := placement.LeastToFill(m, n, pl.pod, near)
		if fill > len(near) {
			fill = others + 1
		}
		fills = append(fills, fill)
	}
	if len(fills) <= excluded {
		return false
	}
	slices.Sort(fills)
	needed := excluded
	for _, fill := range fills[:len(fills)-excluded] {
		needed += fill
	}
	return needed > others
}
