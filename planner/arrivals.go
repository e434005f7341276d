package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// unbounded is the headroom of a node that no goal is about.
const unbounded = int64(1) << 62

// headroom is, for a way to count and by node, how much more may come there before a
// goal about the node is worse off.
type headroom struct {
	amounts *cluster.Amounts
	room    []int64
}

// follow keeps it right when a pod moves.
func (h headroom) follow(pod cluster.PodID, from, to cluster.NodeID) {
	if from != cluster.NoNode && h.room[from] != unbounded {
		h.room[from] += h.amounts.Contribution(pod, from)
	}
	if to != cluster.NoNode && h.room[to] != unbounded {
		h.room[to] -= h.amounts.Contribution(pod, to)
	}
}

// bound notes how much more the goal lets its node take; limit is that of the goal.
func (t *tracker) bound(b *below, limit float64) {
	at := slices.IndexFunc(t.headroom, func(h headroom) bool { return h.amounts == b.amounts })
	if at < 0 {
		room := make([]int64, len(t.s.Nodes))
		for i := range room {
			room[i] = unbounded
		}
		at = len(t.headroom)
		t.headroom = append(t.headroom, headroom{b.amounts, room})
	}
	room := t.headroom[at].room
	room[b.node] = min(room[b.node], b.limit-b.used)
	if b.amounts.Measure.ByUsage {
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
	of    []int32 // by node, its domain
	marks []mark  // by domain and one; the first is that of nodes in none
}

// mark says that a group's goal is not worse off, and that it is better off.
type mark uint8

const (
	harmless mark = 1 << iota
	helpful
)

func (g *group) at(n cluster.NodeID) mark { return g.marks[g.of[n]+1] }

func (t *tracker) arrivals(pod cluster.PodID, from cluster.NodeID) arrivals {
	a := arrivals{from: from}
	if from != cluster.NoNode {
		for _, i := range t.byNode[from] {
			before, after := t.at[i].excess(), t.at[i].with(pod, from, cluster.NoNode)
			a.worse = a.worse || after > before
			if after >= before || t.list[i].Constraint {
				continue
			}
			if b, ok := t.at[i].(*below); ok && b.amounts.Measure.ByUsage {
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
	for i := range t.headroom {
		if amount := t.headroom[i].amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			a.needs = append(a.needs, need{amount, t.headroom[i].room})
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
	var buf [16]mark
	bySlot := append(buf[:0], make([]mark, n+1)...)
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
		if after <= before {
			bySlot[z] |= harmless
		}
		if after < before && !t.list[i].Constraint {
			bySlot[z] |= helpful
		}
	}
	if leaves >= 0 {
		k.counts[leaves]++
	}
	g := group{k.domains.of, make([]mark, len(k.slot)+1)}
	g.marks[0] = bySlot[n]
	for domain, slot := range k.slot {
		if g.marks[domain+1] = bySlot[n]; slot != noDomain {
			g.marks[domain+1] = bySlot[slot]
		}
	}
	return g
}

// serve reports whether the pod's standing on n improves at least one requested
// goal and worsens none, constraints included.
func (a *arrivals) serve(n cluster.NodeID) bool { return !a.harms(n) && a.helps(n) }

// count is how many of these nodes serve holds for, of those that are ready. It has no
// branches for each: which nodes have room follows no pattern.
func (a *arrivals) count(nodes []cluster.NodeID, ready []bool) (count int) {
	if a.worse || !a.better && len(a.groups)+len(a.byLoad) == 0 {
		return 0
	}
	if len(a.needs) == 0 || len(a.needs) > 2 || len(a.groups) > 1 || len(a.byLoad) > 0 {
		for _, n := range nodes {
			if ready[n] && a.serve(n) && n != a.from {
				count++
			}
		}
		return count
	}
	one, two := a.needs[0], a.needs[len(a.needs)-1]
	always := harmless | helpful
	var g group
	if len(a.groups) > 0 {
		if g, always = a.groups[0], 0; a.better {
			always = helpful
		}
	}
	for _, n := range nodes {
		if n == a.from {
			continue
		}
		marks := always
		if len(g.of) > 0 {
			marks |= g.at(n)
		}
		fits := 1 - int(uint64((one.room[n]-one.amount)|(two.room[n]-two.amount))>>63)
		if !ready[n] { // hardly ever
			fits = 0
		}
		count += fits & int(marks&harmless) & int(marks>>1)
	}
	return count
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
		if a.groups[i].at(n)&helpful != 0 {
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
		if a.groups[i].at(n)&harmless == 0 {
			return true
		}
	}
	return a.worse
}
