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
	group         int32
	fixedScore    int64 // sum of the scores that other nodes do not change
	scoreGroup    int32
	feasible      bool
}

// specialNodes lists the special nodes.
type specialNodes struct {
	pod       *podToPlace
	nodes     *nodeResources
	feasible  *feasibleNodes
	top       *topNodes
	list      []specialNode
	positions []uint64 // bit set of their positions
}

// collect lists the special nodes and marks their positions, in O(k log N) time for k special
// nodes.
func (s *specialNodes) collect(victim cluster.NodeID) {
	var buf [128]int32
	places := buf[:0]
	add := func(c *model.PodCounter) {
		for _, x := range c.Nodes {
			places = append(places, s.nodes.position[x.Node])
		}
	}
	if victim != cluster.NoNode {
		places = append(places, s.nodes.position[victim])
	}
	for i := range s.pod.softSpread {
		if s.pod.softSpread[i].Hostname {
			add(s.pod.softSpread[i].Pods)
			for _, n := range s.pod.view.unspread { // a window counts them as no domain
				places = append(places, s.nodes.position[n])
			}
		}
	}
	for _, t := range s.pod.view.scoredByNode {
		add(t.Pods)
	}
	slices.Sort(places)
	for i := range s.list {
		place := s.nodes.position[s.list[i].node]
		s.positions[place>>6] &^= 1 << (place & 63)
	}
	s.list = s.list[:0]
	for _, place := range slices.Compact(places) {
		if g := s.pod.view.groups.group[place]; g != noGroup {
			s.list = append(s.list, specialNode{node: s.nodes.model.NodeOrder[place], group: g})
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
	sum := [1]int64{int64(place)}
	s.top.scoreFixed(sum[:])
	x.feasibleIndex, x.fixedScore = int32(at), sum[0]
}

// isOrdinary reports whether the node at a position belongs to the group and is not special.
func (s *specialNodes) isOrdinary(place, g int32) bool {
	return s.pod.view.groups.group[place] == g && s.positions[place>>6]>>(place&63)&1 == 0
}

// ordinaryOf returns the positions of the i-th word of a group's bit set that are feasible and not special, and the
// number of words before them.
func (s *specialNodes) ordinaryOf(g, i int) (word uint64, at int) {
	at = s.pod.view.groups.firstWord[g] + i
	return s.pod.view.groups.bits[g][i] & s.feasible.bits[at] &^ s.positions[at], at
}

// hasOrdinary reports whether a group has feasible nodes that are not special.
func (s *specialNodes) hasOrdinary(g int) bool {
	for i := range s.pod.view.groups.bits[g] {
		if word, _ := s.ordinaryOf(g, i); word != 0 {
			return true
		}
	}
	return false
}

// renumber adds `by` to the feasible indexes from `from` on.
func (s *specialNodes) renumber(from, by int32) {
	for i := range s.list {
		if x := &s.list[i]; x.feasibleIndex >= from {
			x.feasibleIndex += by
		}
	}
}
