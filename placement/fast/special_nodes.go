package fast

import (
	"iter"
	"math/bits"
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

// ordinaryNodes iterates over the feasible nodes of a group that are not special: feasible index and position.
func (s *specialNodes) ordinaryNodes(g int) iter.Seq2[int32, int32] {
	groups, f := s.pod.view.groups, s.feasible
	return func(yield func(index, place int32) bool) {
		for k, word := range groups.bits[g] {
			i := groups.firstWord[g] + k
			fits := f.bits[i]
			for left := word & fits &^ s.positions[i]; left != 0; left &= left - 1 {
				before := left&-left - 1
				if !yield(f.countBefore[i]+int32(bits.OnesCount64(fits&before)), int32(i<<6+bits.OnesCount64(before))) {
					return
				}
			}
		}
	}
}

// renumber adds `by` to the feasible indexes from `from` on.
func (s *specialNodes) renumber(from, by int32) {
	for i := range s.list {
		if x := &s.list[i]; x.feasibleIndex >= from {
			x.feasibleIndex += by
		}
	}
}
