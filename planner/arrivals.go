package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// unbounded is the headroom of a node that no goal is about.
const unbounded = int64(1) << 62

// bound notes how much more the goal lets its node take; limit is that of the goal.
func (t *tracker) bound(b *below, limit float64) {
	room := t.headroom[b.amounts]
	if room == nil {
		room = make([]int64, len(t.s.Nodes))
		for i := range room {
			room[i] = unbounded
		}
		t.headroom[b.amounts] = room
	}
	room[b.node] = min(room[b.node], b.limit-b.used)
	if b.amounts.Measure.ByLoad {
		t.boundByLoad(b, limit)
	}
}

// arrivals judges every node as the place of a pod that leaves another: whether
// requested goals are then served better, and none worse. What does not depend
// on the place is judged once, so that a node costs a few comparisons.
type arrivals struct {
	from cluster.NodeID
	// better: the leaving serves a goal; worse: it harms one, wherever it goes.
	better, worse bool
	// byLoad: the leaving serves goals that count these, which is true only of places
	// of which the use is known.
	byLoad []*cluster.Amounts
	// spare is what such a place must have left where no goal is about it.
	spare  []need
	needs  []need
	groups []group
}

// need is what the pod takes of a resource that goals are about.
type need struct {
	amount int64
	room   []int64 // by node
}

// group is what arriving in each domain does to one goal.
type group struct {
	k             *skew
	better, worse []bool // by position in the goal's counts; last: in none of them
}

func (t *tracker) arrivals(pod cluster.PodID, from cluster.NodeID) arrivals {
	a := arrivals{from: from}
	if from != cluster.NoNode {
		for _, i := range t.byNode[from] {
			before, after := t.at[i].excess(), t.at[i].with(pod, from, cluster.NoNode)
			a.worse = a.worse || after > before
			if after >= before || t.list[i].Constraint {
				continue
			}
			if b, ok := t.at[i].(*below); ok && b.amounts.Measure.ByLoad {
				a.byLoad = append(a.byLoad, b.amounts)
			} else {
				a.better = true
			}
		}
	}
	if len(a.byLoad) > 0 {
		a.spare = t.spare(pod)
	}
	if !a.better && len(t.byPod[pod]) == 0 {
		// Then that is all it is good for, and other places are no better than full ones.
		for _, amounts := range a.byLoad {
			a.better = true
			a.needs = append(a.needs, need{1, t.known[amounts]})
		}
		a.needs = append(a.needs, a.spare...)
	}
	for amounts, room := range t.headroom {
		if amount := amounts.Of(pod, cluster.NoNode); amount > 0 {
			a.needs = append(a.needs, need{amount, room})
		}
	}
	for _, i := range t.byPod[pod] {
		a.groups = append(a.groups, t.group(int(i), from))
	}
	return a
}

func (t *tracker) group(i int, from cluster.NodeID) group {
	k := t.at[i].(*skew)
	n := len(k.counts)
	flags := make([]bool, 2*n+2)
	g := group{k, flags[:n+1], flags[n+1:]}
	before, leaves := k.excess(), -1
	if at, ok := k.domain(from); ok {
		leaves = at
		k.counts[at]--
	}
	for z := range n + 1 {
		if z < n {
			k.counts[z]++
		}
		after := int64(fewestMoves(k.counts, k.limit))
		if z < n {
			k.counts[z]--
		}
		g.better[z], g.worse[z] = after < before && !t.list[i].Constraint, after > before
	}
	if leaves >= 0 {
		k.counts[leaves]++
	}
	return g
}

func (g *group) at(n cluster.NodeID) int {
	if z, ok := g.k.domain(n); ok {
		return z
	}
	return len(g.k.counts)
}

// serve reports whether the pod's standing on n improves at least one requested
// goal and worsens none, constraints included.
func (a *arrivals) serve(n cluster.NodeID) bool { return !a.harms(n) && a.helps(n) }

// weighAll makes the number of each node that serve does not hold for negative.
func (a *arrivals) weighAll(nodes []cluster.NodeID, lacking []int64) {
	if a.worse || !a.better && len(a.groups) == 0 {
		for i := range lacking {
			lacking[i] = -1
		}
		return
	}
	for k := range a.needs { // without branches: which nodes have room follows no pattern
		x := &a.needs[k]
		for i, n := range nodes {
			lacking[i] |= x.room[n] - x.amount
		}
	}
	if len(a.groups) == 0 {
		return
	}
	for i, n := range nodes {
		if lacking[i] >= 0 && !a.serve(n) {
			lacking[i] = -1
		}
	}
}

// helps reports whether it improves a requested goal.
func (a *arrivals) helps(n cluster.NodeID) bool {
	if n == a.from {
		return false
	}
	if a.better || slices.ContainsFunc(a.byLoad, func(x *cluster.Amounts) bool { return knows(x, n) }) && has(a.spare, n) {
		return true
	}
	for i := range a.groups {
		if g := &a.groups[i]; g.better[g.at(n)] {
			return true
		}
	}
	return false
}

// harms reports whether it worsens a goal.
func (a *arrivals) harms(n cluster.NodeID) bool {
	if n == a.from {
		return false
	}
	for i := range a.needs {
		if x := &a.needs[i]; x.amount > x.room[n] {
			return true
		}
	}
	for i := range a.groups {
		if g := &a.groups[i]; g.worse[g.at(n)] {
			return true
		}
	}
	return a.worse
}
