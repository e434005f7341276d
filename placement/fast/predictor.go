package fast

import (
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// Predictor foretells what sampler does, for the classes of sightOf, without looking
// at every window and every node's score. One pass over the nodes (scan) finds which
// are feasible. Of a group whose nodes can win, another (survey) finds those that may
// score best for what they have free; they alone are scored.
// Beside that only nodes that can win are looked at:
//
//   - nodes are of a kind: what the relative scores make of them. Nodes of a group
//     (terrain) are of one kind, but for those that have counted pods; these few,
//     and the victim's node, are looked at by themselves (special).
//   - which kinds are in a window changes where a special node enters or leaves
//     it: the starts of the walk fall into few stretches (segment) within which
//     every node has one total.
//   - in a segment nodes are taken from the best total down, until every start has
//     one in its window. The rest cannot win.
//
// With N nodes, k special nodes and m nodes that are taken it costs O(N) of a few
// instructions each, and O((k + m) log N + k K) for K kinds, where m is some ten
// times the number of windows that fit beside each other, and all nodes that score
// within a few points of these. Where the scheduler judges every feasible node, the
// best of all are taken (judgeAll). The second state of the
// victim repeats the latter only. Its slices are used again for every prediction.
type Predictor struct {
	m                  *model.Cluster
	buf                *cycle.Scratch
	groups             *GroupCache
	RandomSampleWeight float64 // weight of the odds over every set of nodes

	in    *cycle.Replacement
	sight *classView
	size  int

	place   []int32    // by node, where it stands in the walk
	free    []free     // by place
	numbers []numbers  // by place
	base    []uint8    // by place, 0..200: the shares of cpu and memory that are free, in percent
	bases   [256]int32 // how many nodes have each base
	based   [][]uint64 // by base, which nodes have it, as bits
	top     int        // no node has a greater base
	ample   []uint64   // places that have what most pods ask for, as bits
	usable  bool       // whether the numbers are exact

	leastMilliCPU, leastBytes int64 // of what any node has
	mostMilliCPU, mostBytes   int64
	assumes                   bool // whether scores take any pod to request more than it does

	open   []uint64 // places of allowed groups, as bits
	marked []uint64 // places of special nodes, as bits

	field   field
	special []special
	kinds   []kind // of the groups, then of special nodes
	allowed []bool // by group
	sources []source
	harvest harvest

	parts   segments
	cover   cover
	kept    kept
	odds    []float64 // by node
	won     []uint64  // nodes that have odds, as bits
	soft    []cycle.SpreadConstraint
	written [2]written // what the last prediction said of each state
}

// field are the feasible nodes in the order of the walk.
type field struct {
	count  int
	at     []int32  // places; the first nodes of a window come again at the end, a walk further
	fits   []uint64 // by place, as bits
	before []int32  // by 64 places, how many are feasible before them
}

// Predict fills in both states of the victim. It returns false if the class, or the
// kinds of nodes, need the general way.
func (q *Predictor) Predict(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	m := q.m
	size := sampling.Size(len(m.Snap.Nodes), in.Profile.PercentageOfNodesToScore)
	if !q.usable || q.sightOf(in) == nil {
		return false
	}
	n := m.PodNode[p]
	q.in, q.sight, q.size, q.soft = in, q.sightOf(in), size, in.Spread.Soft
	if in.Profile.Weights.PodTopologySpread == 0 {
		q.soft = nil
	}
	if n == cluster.NoNode {
		if !q.first(n, &pr.Terminating, &q.written[0]) {
			return false
		}
		pr.Gone = pr.Terminating
		return true
	}
	m.AdjustSpread(p, n, -1)
	ok := q.first(n, &pr.Terminating, &q.written[0])
	if ok {
		m.AdjustUsage(p, n, -1)
		ok = q.second(n, &pr.Gone, &q.written[1])
		m.AdjustUsage(p, n, 1)
	}
	m.AdjustSpread(p, n, 1)
	return ok
}

// first foretells the state in which the victim terminates.
func (q *Predictor) first(victim cluster.NodeID, out *prediction.State, x *written) bool {
	q.kept.known = false
	q.allow()
	q.scan()
	q.findSpecial(victim)
	q.sow()
	return q.judge(victim, out, x)
}

// second foretells the state in which the victim is gone, where no other node's
// feasibility has changed.
func (q *Predictor) second(victim cluster.NodeID, out *prediction.State, x *written) bool {
	if q.allow() {
		return q.first(victim, out, x)
	}
	q.lookAgain(victim)
	return q.judge(victim, out, x)
}

// judge finds the odds of the state as it stands; false where there are too many
// kinds of nodes. The second state takes over what the first has found for the
// starts whose windows the victim's node cannot be in.
func (q *Predictor) judge(victim cluster.NodeID, out *prediction.State, x *written) bool {
	alike, ok := q.findKinds()
	if !ok {
		return false
	}
	if q.field.count <= q.size {
		q.judgeAll(out, x)
		return true
	}
	q.extend()
	q.forget()
	q.findEvents()
	with, others := q.startsWith(victim)
	if q.kept.known && alike {
		q.recall()
	} else {
		q.cover.most = none
		q.everyStart(others)
		q.remember()
	}
	q.everyStart(with)
	q.everySet(q.RandomSampleWeight)
	q.report(out, x)
	return true
}

// kept is what is known of the starts without the victim's node.
type kept struct {
	known bool
	nodes []int32
	odds  []float64
	most  int32
}

func (q *Predictor) remember() {
	k := &q.kept
	k.known = true
	k.nodes, k.odds, k.most = k.nodes[:0], k.odds[:0], q.cover.most
	for i, word := range q.won {
		for ; word != 0; word &= word - 1 {
			n := i<<6 + bits.TrailingZeros64(word)
			k.nodes, k.odds = append(k.nodes, int32(n)), append(k.odds, q.odds[n])
		}
	}
}

func (q *Predictor) recall() {
	q.cover.most = q.kept.most
	for i, n := range q.kept.nodes {
		q.odds[n] = q.kept.odds[i]
		q.won[n>>6] |= 1 << (n & 63)
	}
}

// forget clears the odds.
func (q *Predictor) forget() {
	for i, word := range q.won {
		for ; word != 0; word &= word - 1 {
			q.odds[i<<6+bits.TrailingZeros64(word)] = 0
		}
		q.won[i] = 0
	}
}

// judgeAll finds the best of all feasible nodes, where the scheduler judges them all.
func (q *Predictor) judgeAll(out *prediction.State, x *written) {
	*out = prediction.State{}
	if q.field.count == 0 {
		return
	}
	out.Winners = x.winners[:0]
	q.parts.weights = [maxSoft]float64{}
	q.fillWindow()
	q.startLevels()
	total := q.nextTotal()
	out.Best, out.FeasibleSet = int64(total), q.fitting(x)
	for k, t := range q.cover.total {
		if s, level := &q.sources[k], q.cover.level[k]; t == total {
			for _, at := range s.nodes[s.starts[level]:s.starts[level+1]] {
				out.Winners = append(out.Winners, q.m.NodeOrder[q.field.at[at]])
			}
		}
	}
	slices.Sort(out.Winners)
	x.winners = out.Winners
}

func (q *Predictor) fitting(x *written) prediction.NodeSet {
	x.fits = append(x.fits[:0], q.field.fits...)
	return prediction.NodeSet{Count: q.field.count, Bits: x.fits, Position: q.place, Order: q.m.NodeOrder}
}

// written are the slices of a State.
type written struct {
	fits    []uint64
	winners []cluster.NodeID
	odds    []float64
}

// report writes down who may win.
func (q *Predictor) report(out *prediction.State, x *written) {
	out.SampleSize, out.Best, out.FeasibleSet = q.size, int64(q.cover.most), q.fitting(x)
	out.Winners, out.Odds = x.winners[:0], x.odds[:0]
	defer func() { x.winners, x.odds = out.Winners, out.Odds }()
	for i, word := range q.won {
		for ; word != 0; word &= word - 1 {
			if n := i<<6 + bits.TrailingZeros64(word); q.odds[n] > 0 {
				out.Winners, out.Odds = append(out.Winners, cluster.NodeID(n)), append(out.Odds, q.odds[n])
			}
		}
	}
}
