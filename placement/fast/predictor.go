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
	model              *model.Cluster
	scratch            *cycle.Scratch
	groups             *GroupCache
	RandomSampleWeight float64 // weight of the odds over every set of nodes

	replacement *cycle.Replacement
	view        *classView
	sampleSize  int

	position        []int32         // by node, where it stands in the walk
	free            []freeResources // by place
	scoring         []scoringData   // by place
	freePercent     []uint8         // by place, 0..200: the shares of cpu and memory that are free, in percent
	countByFree     [256]int32      // how many nodes have each base
	positionsByFree [][]uint64      // by base, which nodes have it, as bits
	maxFreeBound    int             // no node has a greater base
	amplePositions  []uint64        // places that have what most pods ask for, as bits
	exact           bool            // whether the numbers are exact

	leastMilliCPU, leastBytes int64 // of what any node has
	mostMilliCPU, mostBytes   int64
	hasAssumedRequests        bool // whether scores take any pod to request more than it does

	openPositions    []uint64 // places of allowed groups, as bits
	specialPositions []uint64 // places of special nodes, as bits

	feasible     feasibleNodes
	specialNodes []specialNode
	scoreGroups  []scoreGroup // of the groups, then of special nodes
	groupAllowed []bool       // by group
	scoreLists   []scoreList
	topScores    topScores

	windows       windowEvents
	levels        levelSearch
	saved         savedOdds
	oddsByNode    []float64 // by node
	nodesWithOdds []uint64  // nodes that have odds, as bits
	softSpread    []cycle.SpreadConstraint
	buffers       [2]stateBuffers // what the last prediction said of each state
}

// feasibleNodes are the feasible nodes in the order of the walk.
type feasibleNodes struct {
	count       int
	positions   []int32  // places; the first nodes of a window come again at the end, a walk further
	bits        []uint64 // by place, as bits
	countBefore []int32  // by 64 places, how many are feasible before them
}

// Predict fills in both states of the victim. It returns false if the class, or the
// kinds of nodes, need the general way.
func (q *Predictor) Predict(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	m := q.model
	size := sampling.Size(len(m.Snap.Nodes), in.Profile.PercentageOfNodesToScore)
	if !q.exact || q.viewOf(in) == nil {
		return false
	}
	n := m.PodNode[p]
	q.replacement, q.view, q.sampleSize, q.softSpread = in, q.viewOf(in), size, in.Spread.Soft
	if in.Profile.Weights.PodTopologySpread == 0 {
		q.softSpread = nil
	}
	if n == cluster.NoNode {
		if !q.predictTerminating(n, &pr.Terminating, &q.buffers[0]) {
			return false
		}
		pr.Gone = pr.Terminating
		return true
	}
	m.AdjustSpread(p, n, -1)
	ok := q.predictTerminating(n, &pr.Terminating, &q.buffers[0])
	if ok {
		m.AdjustUsage(p, n, -1)
		ok = q.predictGone(n, &pr.Gone, &q.buffers[1])
		m.AdjustUsage(p, n, 1)
	}
	m.AdjustSpread(p, n, 1)
	return ok
}

// predictTerminating foretells the state in which the victim terminates.
func (q *Predictor) predictTerminating(victim cluster.NodeID, out *prediction.State, x *stateBuffers) bool {
	q.saved.known = false
	q.allowGroups()
	q.findFeasible()
	q.findSpecialNodes(victim)
	q.initTopScores()
	return q.predictState(victim, out, x)
}

// predictGone foretells the state in which the victim is gone, where no other node's
// feasibility has changed.
func (q *Predictor) predictGone(victim cluster.NodeID, out *prediction.State, x *stateBuffers) bool {
	if q.allowGroups() {
		return q.predictTerminating(victim, out, x)
	}
	q.updateVictimNode(victim)
	return q.predictState(victim, out, x)
}

// predictState finds the odds of the state as it stands; false where there are too many
// kinds of nodes. The second state takes over what the first has found for the
// starts whose windows the victim's node cannot be in.
func (q *Predictor) predictState(victim cluster.NodeID, out *prediction.State, x *stateBuffers) bool {
	alike, ok := q.findScoreGroups()
	if !ok {
		return false
	}
	if q.feasible.count <= q.sampleSize {
		q.predictUnsampled(out, x)
		return true
	}
	q.wrapFeasible()
	q.clearOdds()
	q.findWindowEvents()
	with, others := q.splitStarts(victim)
	if q.saved.known && alike {
		q.restoreOdds()
	} else {
		q.levels.maxTotal = noScore
		q.predictStarts(others)
		q.saveOdds()
	}
	q.predictStarts(with)
	q.mixInRandomSamples(q.RandomSampleWeight)
	q.writeState(out, x)
	return true
}

// savedOdds is what is known of the starts without the victim's node.
type savedOdds struct {
	known    bool
	nodes    []int32
	odds     []float64
	maxTotal int32
}

func (q *Predictor) saveOdds() {
	k := &q.saved
	k.known = true
	k.nodes, k.odds, k.maxTotal = k.nodes[:0], k.odds[:0], q.levels.maxTotal
	for i, word := range q.nodesWithOdds {
		for ; word != 0; word &= word - 1 {
			n := i<<6 + bits.TrailingZeros64(word)
			k.nodes, k.odds = append(k.nodes, int32(n)), append(k.odds, q.oddsByNode[n])
		}
	}
}

func (q *Predictor) restoreOdds() {
	q.levels.maxTotal = q.saved.maxTotal
	for i, n := range q.saved.nodes {
		q.oddsByNode[n] = q.saved.odds[i]
		q.nodesWithOdds[n>>6] |= 1 << (n & 63)
	}
}

// clearOdds clears the odds.
func (q *Predictor) clearOdds() {
	for i, word := range q.nodesWithOdds {
		for ; word != 0; word &= word - 1 {
			q.oddsByNode[i<<6+bits.TrailingZeros64(word)] = 0
		}
		q.nodesWithOdds[i] = 0
	}
}

// predictUnsampled finds the best of all feasible nodes, where the scheduler judges them all.
func (q *Predictor) predictUnsampled(out *prediction.State, x *stateBuffers) {
	*out = prediction.State{}
	if q.feasible.count == 0 {
		return
	}
	out.Winners = x.winners[:0]
	q.windows.spreadWeights = [maxSoftConstraints]float64{}
	q.scoreAllFeasible()
	q.resetLevels()
	total := q.nextBestTotal()
	out.Best, out.FeasibleSet = int64(total), q.feasibleSet(x)
	for k, t := range q.levels.nextTotal {
		if s, level := &q.scoreLists[k], q.levels.nextLevel[k]; t == total {
			for _, at := range s.nodes[s.levelStarts[level]:s.levelStarts[level+1]] {
				out.Winners = append(out.Winners, q.model.NodeOrder[q.feasible.positions[at]])
			}
		}
	}
	slices.Sort(out.Winners)
	x.winners = out.Winners
}

func (q *Predictor) feasibleSet(x *stateBuffers) prediction.NodeSet {
	x.feasible = append(x.feasible[:0], q.feasible.bits...)
	return prediction.NodeSet{Count: q.feasible.count, Bits: x.feasible, Position: q.position, Order: q.model.NodeOrder}
}

// stateBuffers are the slices of a State.
type stateBuffers struct {
	feasible []uint64
	winners  []cluster.NodeID
	odds     []float64
}

// writeState writes down who may win.
func (q *Predictor) writeState(out *prediction.State, x *stateBuffers) {
	out.SampleSize, out.Best, out.FeasibleSet = q.sampleSize, int64(q.levels.maxTotal), q.feasibleSet(x)
	out.Winners, out.Odds = x.winners[:0], x.odds[:0]
	defer func() { x.winners, x.odds = out.Winners, out.Odds }()
	for i, word := range q.nodesWithOdds {
		for ; word != 0; word &= word - 1 {
			if n := i<<6 + bits.TrailingZeros64(word); q.oddsByNode[n] > 0 {
				out.Winners, out.Odds = append(out.Winners, cluster.NodeID(n)), append(out.Odds, q.oddsByNode[n])
			}
		}
	}
}
