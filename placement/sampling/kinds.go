package sampling

import (
	"cmp"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"slices"
)

// kinds sort the feasible nodes by what scores relative to a sample make of
// them. Nodes of one kind get the same relative scores in any sample, so among
// them the sum of the other scores decides.
type kinds struct {
	of     []int32   // kind of each node, in the order of the walk
	count  int       // of kinds
	first  []int32   // by kind, a node of it
	fixed  []int64   // by node, weighted sum of the scores that are not relative
	level  []int32   // by node: nodes of one kind and fixed sum share it; rising with the sum within a kind
	start  []int32   // by kind, its first level
	value  []int64   // by level, the fixed sum
	column [][]int64 // by node, what the relative scores read; see the constants
	on     []bool    // whether a column is read

	table, order []int32
}

// The columns: counts or sums that are stretched over the sample, and then the
// matching pods by soft spread constraint.
const (
	taintColumn = iota
	affinityColumn
	interColumn
	softColumn
)

// In the columns of soft constraints: the node lacks the label, or gets no score.
const (
	NoLabel = -1
	skipped = -2
)

// findKinds sorts by the columns and sums that were read.
func (s *Sampler) findKinds() {
	k, n := &s.kinds, len(s.nodes)
	k.of = Resize(k.of, n)
	clear(k.of)
	k.count = 1
	for c := range k.column {
		if k.on[c] {
			k.fold(k.column[c])
		}
	}
	k.first = Resize(k.first, k.count)
	for i := n - 1; i >= 0; i-- {
		k.first[k.of[i]] = int32(i)
	}
	k.findLevels()
}

// readColumns reads what the relative scores that have a weight go by.
func (s *Sampler) readColumns() {
	k, r, in := &s.kinds, s.r, s.r.Replacement
	weights := &in.Profile.Weights
	for len(k.column) < softColumn+len(in.Spread.Soft) {
		k.column, k.on = append(k.column, nil), append(k.on, false)
	}
	for c := range k.column {
		k.column[c] = cycle.ResizeInt64(k.column[c], len(s.nodes))
	}
	clear(k.on)
	if k.on[taintColumn] = weights.TaintToleration > 0; k.on[taintColumn] {
		score.CountTaints(r, s.nodes, k.column[taintColumn])
	}
	if k.on[affinityColumn] = weights.NodeAffinity > 0 && in.StaticScores.Preferred != nil; k.on[affinityColumn] {
		score.Pick(k.column[affinityColumn], s.nodes, in.StaticScores.Preferred)
	}
	if weights.InterPodAffinity > 0 && len(in.InterPod.Scored) > 0 {
		clear(k.column[interColumn])
		k.on[interColumn] = score.SumInterPod(r, s.nodes, k.column[interColumn])
	}
	if weights.PodTopologySpread == 0 {
		return
	}
	for i := range in.Spread.Soft {
		k.on[softColumn+i] = true
		s.readSoft(&in.Spread.Soft[i], k.column[softColumn+i])
	}
}

// readSoft reads the matching pods of a constraint.
func (s *Sampler) readSoft(c *cycle.SpreadConstraint, out []int64) {
	rules := &s.r.Replacement.Spread
	var pods []int32
	if !c.Hostname {
		pods = score.SoftCounts(s.r, c)
	}
	for i, n := range s.nodes {
		x := c.Topology.Domain[n]
		switch {
		case x == model.NoDomain:
			out[i] = NoLabel
		case c.Hostname:
			out[i] = int64(c.Pods.On(n))
		default:
			out[i] = int64(pods[x])
		}
	}
	for i := 0; rules.RequireAllKeys && i < len(out); i++ {
		if !rules.SoftKeyNodes[s.nodes[i]] {
			out[i] = skipped
		}
	}
}

// smallTable is how many entries a table may have that is looked up directly.
const smallTable = 1 << 16

// fold tells kinds apart by one more column.
func (k *kinds) fold(column []int64) {
	least, most := extent(column)
	if least == most {
		return
	}
	span, count := most-least+1, int32(0)
	if span > smallTable/int64(k.count) {
		k.foldByMap(column)
		return
	}
	k.table = Resize(k.table, k.count*int(span))
	clear(k.table)
	for i, v := range column {
		slot := &k.table[int64(k.of[i])*span+v-least]
		if *slot == 0 {
			count++
			*slot = count
		}
		k.of[i] = *slot - 1
	}
	k.count = int(count)
}

func (k *kinds) foldByMap(column []int64) {
	number := map[[2]int64]int32{}
	for i, v := range column {
		key := [2]int64{int64(k.of[i]), v}
		id, ok := number[key]
		if !ok {
			id = int32(len(number))
			number[key] = id
		}
		k.of[i] = id
	}
	k.count = len(number)
}

// addFixed sums the scores that a node has in any sample.
func (s *Sampler) addFixed() {
	k, r := &s.kinds, s.r
	k.fixed = cycle.ResizeInt64(k.fixed, len(s.nodes))
	clear(k.fixed)
	b := r.Scratch
	b.Total = cycle.ResizeInt64(b.Total, len(s.nodes))
	fixed := k.fixed[:len(s.nodes)]
	for _, x := range r.Replacement.Scorers {
		if x.Relative || x.AlwaysZero != nil && x.AlwaysZero(r.Replacement) {
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

// findLevels numbers the levels by kind, then by fixed sum.
func (k *kinds) findLevels() {
	k.level, k.start, k.value = Resize(k.level, len(k.of)), Resize(k.start, k.count+1), k.value[:0]
	least, most := extent(k.fixed)
	span := most - least + 1
	if span > smallTable/int64(k.count) {
		k.sortLevels()
		return
	}
	k.table = Resize(k.table, k.count*int(span))
	clear(k.table)
	for i, v := range k.fixed {
		at := int32(int64(k.of[i])*span + v - least)
		k.level[i], k.table[at] = at, 1
	}
	for kind := range k.count {
		k.start[kind] = int32(len(k.value))
		for v, used := range k.table[kind*int(span) : (kind+1)*int(span)] {
			if used != 0 {
				k.table[kind*int(span)+v] = int32(len(k.value))
				k.value = append(k.value, least+int64(v))
			}
		}
	}
	k.start[k.count] = int32(len(k.value))
	for i, at := range k.level {
		k.level[i] = k.table[at]
	}
}

// sortLevels does it for sums that are too far apart for a table.
func (k *kinds) sortLevels() {
	k.order = Resize(k.order, len(k.of))
	for i := range k.order {
		k.order[i] = int32(i)
	}
	slices.SortFunc(k.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.of[a], k.of[b]), cmp.Compare(k.fixed[a], k.fixed[b]))
	})
	kind := int32(-1)
	for _, i := range k.order {
		if k.of[i] != kind || k.fixed[i] != k.value[len(k.value)-1] {
			if k.of[i] != kind {
				kind = k.of[i]
				k.start[kind] = int32(len(k.value))
			}
			k.value = append(k.value, k.fixed[i])
		}
		k.level[i] = int32(len(k.value)) - 1
	}
	k.start[k.count] = int32(len(k.value))
}

// extent returns the least and the greatest value.
func extent(values []int64) (least, most int64) {
	least, most = values[0], values[0]
	for _, v := range values { // branches that are foretold well cost less than min and max
		if v < least {
			least = v
		} else if v > most {
			most = v
		}
	}
	return least, most
}

func Resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}
