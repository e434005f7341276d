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

// specialNodes lists the special nodes.
type specialNodes struct {
	pod       *podToPlace
	nodes     *nodeResources
	feasible  *feasibleNodes
	list      []specialNode
	positions []uint64 // bit set of their positions
}

// collect lists the special nodes and marks their positions, in O(k log N) time for k special
// nodes.
func (s *specialNodes) collect(victim cluster.NodeID) {
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
	for i := range s.pod.softSpread {
		if s.pod.softSpread[i].Hostname {
			add(s.pod.softSpread[i].Pods)
		}
	}
	for _, t := range s.pod.view.scoredByNode {
		add(t.Pods)
	}
	slices.Sort(nodes)
	for i := range s.list {
		place := s.nodes.position[s.list[i].node]
		s.positions[place>>6] &^= 1 << (place & 63)
	}
	s.list = s.list[:0]
	for _, n := range slices.Compact(nodes) {
		place := s.nodes.position[n]
		if g := s.pod.view.groups.group[place]; g != noGroup {
			s.list = append(s.list, specialNode{node: n, group: g})
			s.positions[place>>6] |= 1 << (place & 63)
			s.score(&s.list[len(s.list)-1])
		}
	}
}

// score looks up a special node among the feasible nodes and scores it.
func (s *specialNodes) score(x *specialNode) {
	place := s.nodes.position[x.node]
	at, found := s.feasible.indexOf(place)
	if x.feasible = found; !found {
		x.feasibleIndex = -1
		return
	}
	sum := [1]int32{place}
	s.nodes.scoreFixed(s.pod.replacement, sum[:])
	x.feasibleIndex, x.fixedScore = int32(at), sum[0]
}

// isOrdinary reports whether the node at a position belongs to the group and is not special.
func (s *specialNodes) isOrdinary(place int32, g uint8) bool {
	return s.pod.view.groups.group[place] == g && s.positions[place>>6]>>(place&63)&1 == 0
}

// renumber adds `by` to the feasible indexes from `from` on.
func (s *specialNodes) renumber(from, by int32) {
	for i := range s.list {
		if x := &s.list[i]; x.feasibleIndex >= from {
			x.feasibleIndex += by
		}
	}
}
