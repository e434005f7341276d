package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// special is a node that is looked at by itself: the victim's, and those with
// pods that a score counts by node.
type special struct {
	node     cluster.NodeID
	at       int32 // among the feasible nodes; -1: not feasible
	group    uint8
	fixed    int32 // all that it scores apart from the relative scores
	kind     int32
	feasible bool
}

// findSpecial lists them and marks their places. It is
// O(k log N).
func (q *Predictor) findSpecial(victim cluster.NodeID) {
	var buf [128]cluster.NodeID
	nodes := buf[:0]
	add := func(c *model.PodCounter) {
		for _, x := range c.Nodes {
			nodes = append(nodes, x.Node)
		}
	}
	if victim != cluster.NoNode {
		nodes = append(nodes, victim)
	}
	for i := range q.soft {
		if q.soft[i].Hostname {
			add(q.soft[i].Pods)
		}
	}
	for _, t := range q.sight.nodeWise {
		add(t.Pods)
	}
	slices.Sort(nodes)
	for i := range q.special {
		place := q.place[q.special[i].node]
		q.marked[place>>6] &^= 1 << (place & 63)
	}
	q.special = q.special[:0]
	for _, n := range slices.Compact(nodes) {
		place := q.place[n]
		if g := q.sight.land.group[place]; g != nowhere {
			q.special = append(q.special, special{node: n, group: g})
			q.marked[place>>6] |= 1 << (place & 63)
			q.judgeSpecial(&q.special[len(q.special)-1])
		}
	}
}

// judgeSpecial finds a special node among the feasible ones, and what it scores.
func (q *Predictor) judgeSpecial(x *special) {
	place := q.place[x.node]
	at, found := q.field.find(place)
	if x.feasible = found; !found {
		x.at = -1
		return
	}
	sum := [1]int32{place}
	q.score(sum[:])
	x.at, x.fixed = int32(at), sum[0]
}

// lookAgain takes in that pods have left the victim's node.
func (q *Predictor) lookAgain(victim cluster.NodeID) {
	i := slices.IndexFunc(q.special, func(x special) bool { return x.node == victim })
	if i < 0 {
		return // its pods cannot run there
	}
	x, f, place := &q.special[i], &q.field, q.place[victim]
	now := q.passes(victim)
	if now != x.feasible {
		at, _ := f.find(place)
		if now {
			copy(f.at[at+1:], f.at[at:f.count])
			f.at[at] = place
			q.shiftAt(int32(at), place, 1)
		} else {
			copy(f.at[at:], f.at[at+1:f.count])
			q.shiftAt(int32(at)+1, place, -1)
		}
		f.fits[place>>6] ^= 1 << (place & 63)
	}
	q.judgeSpecial(x)
}

// shiftAt renumbers the feasible nodes from a number on, as one at a place has come
// or gone.
func (q *Predictor) shiftAt(from, place, by int32) {
	q.field.count += int(by)
	for i := int(place>>6) + 1; i < len(q.field.before); i++ {
		q.field.before[i] += by
	}
	for g := range q.sight.land.nodes {
		list := q.sources[g].nodes
		for i, at := range list {
			if at >= from {
				list[i] = at + by
			}
		}
	}
	for i := range q.special {
		if x := &q.special[i]; x.at >= from {
			x.at += by
		}
	}
}
