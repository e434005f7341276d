package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// specialNode is a node that the predictor scores individually: the victim's node, or a node with
// pods that a score counts per node.
type specialNode struct {
	node          cluster.NodeID
	feasibleIndex int32 // index among the feasible nodes; -1: not feasible
	group         uint8
	fixedScore    int32 // sum of the scores that other nodes do not change
	scoreGroup    int32
	feasible      bool
}

// collectSpecialNodes lists the special nodes and marks their positions, in O(k log N) time for k
// special nodes.
func (q *topNodes) collectSpecialNodes(victim cluster.NodeID) {
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
	for i := range q.softSpread {
		if q.softSpread[i].Hostname {
			add(q.softSpread[i].Pods)
		}
	}
	for _, t := range q.view.scoredByNode {
		add(t.Pods)
	}
	slices.Sort(nodes)
	for i := range q.specialNodes {
		place := q.position[q.specialNodes[i].node]
		q.specialPositions[place>>6] &^= 1 << (place & 63)
	}
	q.specialNodes = q.specialNodes[:0]
	for _, n := range slices.Compact(nodes) {
		place := q.position[n]
		if g := q.view.groups.group[place]; g != noGroup {
			q.specialNodes = append(q.specialNodes, specialNode{node: n, group: g})
			q.specialPositions[place>>6] |= 1 << (place & 63)
			q.scoreSpecialNode(&q.specialNodes[len(q.specialNodes)-1])
		}
	}
}

// scoreSpecialNode looks up a special node among the feasible nodes and scores it.
func (q *topNodes) scoreSpecialNode(x *specialNode) {
	place := q.position[x.node]
	at, found := q.feasible.indexOf(place)
	if x.feasible = found; !found {
		x.feasibleIndex = -1
		return
	}
	sum := [1]int32{place}
	q.scoreFixed(sum[:])
	x.feasibleIndex, x.fixedScore = int32(at), sum[0]
}

func (q *topNodes) updateVictimNode(victim cluster.NodeID) {
	i := slices.IndexFunc(q.specialNodes, func(x specialNode) bool { return x.node == victim })
	if i < 0 {
		return // the class cannot run on that node
	}
	x, f, place := &q.specialNodes[i], &q.feasible, q.position[victim]
	now := q.isFeasible(victim)
	if now != x.feasible {
		at, _ := f.indexOf(place)
		if now {
			copy(f.positions[at+1:], f.positions[at:f.count])
			f.positions[at] = place
			q.renumberFeasible(int32(at), place, 1)
		} else {
			copy(f.positions[at:], f.positions[at+1:f.count])
			q.renumberFeasible(int32(at)+1, place, -1)
		}
		f.bits[place>>6] ^= 1 << (place & 63)
	}
	q.scoreSpecialNode(x)
}

// renumberFeasible shifts all stored indexes from `from` on, after a node was inserted into or
// removed from the feasible nodes.
func (q *topNodes) renumberFeasible(from, place, by int32) {
	q.feasible.count += int(by)
	for i := int(place>>6) + 1; i < len(q.feasible.countBefore); i++ {
		q.feasible.countBefore[i] += by
	}
	for g := range q.view.groups.nodes {
		list := q.scoreLists[g].nodes
		for i, at := range list {
			if at >= from {
				list[i] = at + by
			}
		}
	}
	for i := range q.specialNodes {
		if x := &q.specialNodes[i]; x.feasibleIndex >= from {
			x.feasibleIndex += by
		}
	}
}
