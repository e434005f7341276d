package sampling

import (
	"cmp"
	"slices"
	"sort"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// nodeScores holds the feasible nodes of an attempt in node order, and their scores.
type nodeScores struct {
	attempt          *cycle.Attempt
	sampleSize       int
	lastFeasible     []cluster.NodeID // the input of the last sortByNodeOrder
	feasibleNumber   []int32          // by node: its index among the feasible nodes plus 1; 0: not feasible
	nodes            []cluster.NodeID // feasible nodes in node order
	startProbability []float64        // by index in nodes: probability of the window that begins there; sums to 1
	groups           scoreGroups
}

// scoreGroups sorts the feasible nodes into score groups and levels. Nodes of a group have the same
// inputs to the relative scores, so they get the same relative scores in every sample. Nodes of a
// level also have the same fixed score.
type scoreGroups struct {
	ofNode     []int32   // by node: its group
	count      int       // number of groups
	firstNode  []int32   // by group: its first node
	fixedScore []int64   // by node: weighted sum of the scores that do not depend on the sample
	level      []int32   // by node: its level; within a group a higher level has a higher fixed score
	firstLevel []int32   // by group: its lowest level; then the number of levels
	levelScore []int64   // by level: the fixed score
	column     [][]int64 // by column constant, then by node: raw values
	hasColumn  []bool    // by column: whether it is read

	table, order []int32
}

// The columns are the raw values that are normalised over the sample, then the matching pods of
// each soft spread constraint.
const (
	taintColumn = iota
	affinityColumn
	interPodColumn
	spreadColumn
)

// Special values in the columns of soft constraints: NoLabel for a node without the label,
// notScored for a node that the score skips.
const (
	NoLabel   = -1
	notScored = -2
)

// findScoreGroups groups nodes with the same columns, and assigns levels by fixed score.
func (s *nodeScores) findScoreGroups() {
	k, n := &s.groups, len(s.nodes)
	k.ofNode = cycle.ResizeZeroed(k.ofNode, n)
	k.count = 1
	for c := range k.column {
		if k.hasColumn[c] {
			k.splitBy(k.column[c])
		}
	}
	k.firstNode = cycle.ResizeSlice(k.firstNode, k.count)
	for i := n - 1; i >= 0; i-- {
		k.firstNode[k.ofNode[i]] = int32(i)
	}
	k.assignLevels()
}

// readScoreInputs fills the columns of the relative scores whose weight is not 0.
func (s *nodeScores) readScoreInputs() {
	k, r, in := &s.groups, s.attempt, s.attempt.Replacement
	weights := &in.Profile.Weights
	for len(k.column) < spreadColumn+len(in.Spread.Soft) {
		k.column, k.hasColumn = append(k.column, nil), append(k.hasColumn, false)
	}
	for c := range k.column {
		k.column[c] = cycle.ResizeSlice(k.column[c], len(s.nodes))
	}
	clear(k.hasColumn)
	if k.hasColumn[taintColumn] = weights.TaintToleration > 0; k.hasColumn[taintColumn] {
		score.CountTaints(r, s.nodes, k.column[taintColumn])
	}
	if k.hasColumn[affinityColumn] = weights.NodeAffinity > 0 && in.StaticScores.Preferred != nil; k.hasColumn[affinityColumn] {
		score.CopyByNode(k.column[affinityColumn], s.nodes, in.StaticScores.Preferred)
	}
	if weights.InterPodAffinity > 0 && len(in.InterPod.Scored) > 0 {
		clear(k.column[interPodColumn])
		k.hasColumn[interPodColumn] = score.SumTermWeights(r, s.nodes, k.column[interPodColumn])
	}
	if weights.PodTopologySpread == 0 {
		return
	}
	for i := range in.Spread.Soft {
		k.hasColumn[spreadColumn+i] = true
		s.readSpreadCounts(&in.Spread.Soft[i], k.column[spreadColumn+i])
	}
}

// readSpreadCounts reads the matching pods of a soft constraint for each node.
func (s *nodeScores) readSpreadCounts(c *cycle.SpreadConstraint, out []int64) {
	rules := &s.attempt.Replacement.Spread
	var pods []int32
	if !c.Hostname {
		pods = score.CountSpreadPods(s.attempt, c)
	}
	for i, n := range s.nodes {
		x := c.Topology.Domain[n]
		switch {
		case x == model.NoDomain:
			out[i] = NoLabel
		case c.Hostname:
			out[i] = int64(c.Pods.CountOn(n))
		default:
			out[i] = int64(pods[x])
		}
	}
	for i := 0; rules.RequireAllKeys && i < len(out); i++ {
		if !rules.SoftKeyNodes[s.nodes[i]] {
			out[i] = notScored
		}
	}
}

// maxTableEntries limits the size of a lookup table. Larger ranges use a map or sorting.
const maxTableEntries = 1 << 16

// splitBy splits the score groups by the values of one more column.
func (k *scoreGroups) splitBy(column []int64) {
	least, most := minMax(column)
	if least == most {
		return
	}
	span, count := most-least+1, int32(0)
	if span > maxTableEntries/int64(k.count) {
		k.splitByMap(column)
		return
	}
	k.table = cycle.ResizeZeroed(k.table, k.count*int(span))
	for i, v := range column {
		slot := &k.table[int64(k.ofNode[i])*span+v-least]
		if *slot == 0 {
			count++
			*slot = count
		}
		k.ofNode[i] = *slot - 1
	}
	k.count = int(count)
}

// splitByMap does the same as splitBy if the values of the column have a large range.
func (k *scoreGroups) splitByMap(column []int64) {
	number := map[[2]int64]int32{}
	for i, v := range column {
		key := [2]int64{int64(k.ofNode[i]), v}
		id, ok := number[key]
		if !ok {
			id = int32(len(number))
			number[key] = id
		}
		k.ofNode[i] = id
	}
	k.count = len(number)
}

func (s *nodeScores) sumFixedScores() {
	k, r := &s.groups, s.attempt
	k.fixedScore = cycle.ResizeZeroed(k.fixedScore, len(s.nodes))
	b := r.Scratch
	b.Total = cycle.ResizeSlice(b.Total, len(s.nodes))
	fixed := k.fixedScore[:len(s.nodes)]
	for _, x := range r.Replacement.Scorers {
		if x.Relative || x.AlwaysZero(r.Replacement) {
			continue
		}
		if x.NodeScores != nil {
			values := x.NodeScores(r.Replacement)
			for i, n := range s.nodes {
				fixed[i] += x.Weight * int64(values[n])
			}
			continue
		}
		x.Score(r, s.nodes, b.Total)
		for i, v := range b.Total {
			fixed[i] += x.Weight * v
		}
	}
}

// assignLevels numbers the levels by score group, then by fixed score.
func (k *scoreGroups) assignLevels() {
	k.level, k.firstLevel, k.levelScore = cycle.ResizeSlice(k.level, len(k.ofNode)), cycle.ResizeSlice(k.firstLevel, k.count+1), k.levelScore[:0]
	least, most := minMax(k.fixedScore)
	span := most - least + 1
	if span > maxTableEntries/int64(k.count) {
		k.assignLevelsBySorting()
		return
	}
	k.table = cycle.ResizeZeroed(k.table, k.count*int(span))
	for i, v := range k.fixedScore {
		at := int32(int64(k.ofNode[i])*span + v - least)
		k.level[i], k.table[at] = at, 1
	}
	for kind := range k.count {
		k.firstLevel[kind] = int32(len(k.levelScore))
		for v, used := range k.table[kind*int(span) : (kind+1)*int(span)] {
			if used != 0 {
				k.table[kind*int(span)+v] = int32(len(k.levelScore))
				k.levelScore = append(k.levelScore, least+int64(v))
			}
		}
	}
	k.firstLevel[k.count] = int32(len(k.levelScore))
	for i, at := range k.level {
		k.level[i] = k.table[at]
	}
}

// assignLevelsBySorting does the same as assignLevels for a large range of fixed scores.
func (k *scoreGroups) assignLevelsBySorting() {
	k.order = cycle.ResizeSlice(k.order, len(k.ofNode))
	for i := range k.order {
		k.order[i] = int32(i)
	}
	slices.SortFunc(k.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.ofNode[a], k.ofNode[b]), cmp.Compare(k.fixedScore[a], k.fixedScore[b]))
	})
	kind := int32(-1)
	for _, i := range k.order {
		if k.ofNode[i] != kind || k.fixedScore[i] != k.levelScore[len(k.levelScore)-1] {
			if k.ofNode[i] != kind {
				kind = k.ofNode[i]
				k.firstLevel[kind] = int32(len(k.levelScore))
			}
			k.levelScore = append(k.levelScore, k.fixedScore[i])
		}
		k.level[i] = int32(len(k.levelScore)) - 1
	}
	k.firstLevel[k.count] = int32(len(k.levelScore))
}

func minMax(values []int64) (least, most int64) {
	least, most = values[0], values[0]
	for _, v := range values { // well-predicted branches are faster than min and max
		if v < least {
			least = v
		} else if v > most {
			most = v
		}
	}
	return least, most
}

// nodeCount returns the number of feasible nodes, without the one that appendChangedNode adds.
func (s *nodeScores) nodeCount() int { return len(s.startProbability) }

func (k *scoreGroups) groupOfLevel(level int32) int {
	return sort.Search(k.count, func(kind int) bool { return k.firstLevel[kind] > level }) - 1
}

// sortByNodeOrder sorts the feasible nodes by node order and computes startProbability. A window
// begins with a node if the search starts at the node, or at an infeasible node directly before it.
// The result reports whether the list feasible is the same as in the last call.
func (s *nodeScores) sortByNodeOrder(feasible []cluster.NodeID) bool {
	w := s.attempt.Model
	if w.InitNodeOrder(); s.feasibleNumber == nil {
		s.feasibleNumber = make([]int32, len(w.NodeOrder))
	}
	if slices.Equal(s.lastFeasible, feasible) {
		return true
	}
	s.lastFeasible = append(s.lastFeasible[:0], feasible...)
	clear(s.feasibleNumber)
	for i, n := range feasible {
		s.feasibleNumber[n] = int32(i) + 1
	}
	s.nodes, s.startProbability = s.nodes[:0], s.startProbability[:0]
	all := float64(len(w.NodeOrder))
	starts, one := 0, 1/all
	for _, n := range w.NodeOrder {
		starts++
		if s.feasibleNumber[n] == 0 {
			continue
		}
		weight := one // the usual case, without the slow division
		if starts > 1 {
			weight = float64(starts) / all
		}
		s.nodes, s.startProbability = append(s.nodes, n), append(s.startProbability, weight)
		starts = 0
	}
	s.startProbability[0] += float64(starts) / all
	return false
}
