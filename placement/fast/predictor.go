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

// Predictor predicts the State of a replacement for both states of the victim. The result equals
// that of sampling.Sampler. A Predictor reuses its slices for every prediction.
//
// A prediction has five steps:
//
//  1. One pass over all nodes compares free resources with the pod's requests and
//     lists the feasible nodes.
//  2. Nodes that differ only in free resources, images and pods counted per node form a
//     node group. Nodes with pods that a score counts per node, and the victim's node,
//     are special: the predictor scores each of them alone.
//  3. Node groups and special nodes with equal inputs to the relative scores form score
//     groups. Their scores in a window depend only on which score groups it contains.
//  4. A window gains or loses a score group only at a few start positions. Between two
//     such positions every node has one total score in all windows.
//  5. For each such range of starts, nodes are taken by falling total score until every
//     window contains one of them. The remaining nodes cannot win.
//
// With N nodes, k special nodes, K score groups and m nodes taken, a prediction costs O(N + (k + m)
// log N + k K). The second state of the victim repeats only steps 3 to 5.
type Predictor struct {
	windowOdds
	groups             *GroupCache
	RandomSampleWeight float64 // 0..1: probability that the sample is random instead of a window
	saved              savedOdds
	buffers            [2]stateBuffers // the slices of the last predicted states
}

// Predict fills in both states of the victim, or returns false if the pod needs the general
// prediction. The result is valid until the next call of Predict.
func (q *Predictor) Predict(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	m := q.model
	size := sampling.SampleSize(len(m.Snap.Nodes), in.Profile.PercentageOfNodesToScore)
	if !q.exact || q.groups.viewOf(m, in) == nil {
		return false
	}
	n := m.PodNode[p]
	q.replacement, q.view, q.sampleSize, q.softSpread = in, q.groups.viewOf(m, in), size, in.Spread.Soft
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

func (q *Predictor) predictTerminating(victim cluster.NodeID, out *prediction.State, x *stateBuffers) bool {
	q.saved.known = false
	q.allowGroups()
	q.findFeasible()
	q.collectSpecialNodes(victim)
	q.initTopScores()
	return q.predictState(victim, out, x)
}

// predictGone predicts the state in which the victim is gone. The caller must call
// predictTerminating before. Only the feasibility of the victim's node differs between the two
// states.
func (q *Predictor) predictGone(victim cluster.NodeID, out *prediction.State, x *stateBuffers) bool {
	if q.allowGroups() {
		return q.predictTerminating(victim, out, x)
	}
	q.updateVictimNode(victim)
	return q.predictState(victim, out, x)
}

// predictState computes the odds of the current state, or returns false if there are too many score
// groups. The second state reuses the odds of the starts whose windows cannot contain the victim's
// node.
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

// savedOdds holds the odds of the start positions whose windows do not contain the victim's node.
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

func (q *windowOdds) clearOdds() {
	for i, word := range q.nodesWithOdds {
		for ; word != 0; word &= word - 1 {
			q.oddsByNode[i<<6+bits.TrailingZeros64(word)] = 0
		}
		q.nodesWithOdds[i] = 0
	}
}

// predictUnsampled finds the nodes with the best total score if the scheduler scores every feasible
// node.
func (q *Predictor) predictUnsampled(out *prediction.State, x *stateBuffers) {
	*out = prediction.State{}
	if q.feasible.count == 0 {
		return
	}
	out.Winners = x.winners[:0]
	q.spreadWeights = [maxSoftConstraints]float64{}
	q.scoreAllFeasible()
	q.resetLevels()
	total := q.nodesWithNextBestScore()
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

// stateBuffers holds the slices of a predicted State for reuse.
type stateBuffers struct {
	feasible []uint64
	winners  []cluster.NodeID
	odds     []float64
}

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

// NewPredictor returns a predictor for the model. The model must call NodeChanged whenever the pods
// on a node change.
func NewPredictor(w *model.Cluster, groups *GroupCache) *Predictor {
	n := len(w.Snap.Nodes)
	words := (n + 63) / 64
	q := &Predictor{groups: groups}
	q.nodeResources = newNodeResources(w)
	q.scratch, q.specialPositions = &cycle.Scratch{}, make([]uint64, words)
	q.feasible = feasibleNodes{positions: make([]int32, 2*n), bits: make([]uint64, words), countBefore: make([]int32, words)}
	q.oddsByNode, q.nodesWithOdds = make([]float64, n), make([]uint64, words)
	return q
}
