package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// Predictor predicts the State of a replacement for both states of the victim. A Predictor reuses its
// slices for every prediction.
//
// A prediction has five steps:
//
//  1. One pass over all nodes compares free resources with the pod's requests and
//     lists the feasible nodes.
//  2. Nodes that differ only in free resources, images and pods counted per node form a
//     node group. Nodes with pods that a score counts per node, and the victim's node,
//     are special: the predictor scores each of them alone.
//  3. Node groups with equal inputs to the relative scores form score groups, and so do
//     special nodes. Their scores in a window depend only on the score groups and the
//     topology domains that it contains.
//  4. A window gains or loses one of these only at a few start positions. Between two
//     such positions every node has one total score in all windows.
//  5. For each such range of starts, nodes are taken by falling total score until every
//     window contains one of them. The remaining nodes cannot win.
//
// With N nodes, k special nodes, K score groups and m nodes taken, a prediction costs O(N + (k + m)
// log N + k K). The second state of the victim repeats only steps 3 to 5.
type Predictor struct {
	RandomSampleWeight float64 // 0..1: probability that the sample is random instead of a window

	parts
	groups  *GroupCache
	windows windowEvents
	buffers [2]stateBuffers // the slices of the last predicted states
	bounds  scoreBounds
}

// parts are the parts of a Predictor that read each other.
type parts struct {
	nodes    nodeResources
	pod      podToPlace
	feasible feasibleNodes
	special  specialNodes
	top      topNodes
	scores   relativeScores
	odds     nodeOdds
	levels   levelSearch
}

// Predict fills in both states of the victim. The result is valid until the next call of a method.
func (q *Predictor) Predict(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) {
	q.setPod(in, p)
	n := q.nodes.model.PodNode[p]
	q.nodes.model.InBothVictimStates(p, func(gone bool) {
		switch {
		case !gone:
			q.predictTerminating(n, &pr.Terminating, &q.buffers[0])
		case n == cluster.NoNode:
			pr.Gone = pr.Terminating
		default:
			q.predictGone(n, &pr.Gone, &q.buffers[1])
		}
	})
}

// setPod makes the replacement of the pod the one that is placed.
func (q *Predictor) setPod(in *cycle.Replacement, p cluster.PodID) {
	m := q.nodes.model
	q.pod = podToPlace{replacement: in, victim: p, view: q.groups.viewOf(&q.nodes, in), softSpread: in.Spread.Soft, scratch: q.pod.scratch,
		sampleSize: SampleSize(len(m.Snap.Nodes), in.Profile.PercentageOfNodesToScore)}
	q.pod.findsTwice = q.pod.view.checksNodes || len(m.Nominated) > 0
	if in.Profile.Weights.PodTopologySpread == 0 {
		q.pod.softSpread = nil
	}
}

// ScoreFeasible calls visit with the score of each plugin for each feasible node, in the model's present state. The
// scores compare all feasible nodes.
func (q *Predictor) ScoreFeasible(in *cycle.Replacement, p cluster.PodID, visit func(cluster.NodeID, *score.Plugin, int64)) {
	q.setPod(in, p)
	q.listFeasible(cluster.NoNode)
	q.groupByScore(true)
	x, special, plugins := q.scores.scoreAllFeasible(), map[cluster.NodeID]int32{}, score.Plugins(in.Profile)
	for i := range q.special.list {
		special[q.special.list[i].node] = q.special.list[i].scoreGroup
	}
	for _, place := range q.feasible.positions[:q.feasible.count] {
		n, k := q.nodes.model.NodeOrder[place], q.scores.groupOf[q.pod.view.groups.group[place]]
		if at, ok := special[n]; ok {
			k = at
		}
		s := q.scores.scoresOf(&q.scores.groups[k], &x)
		relative := map[scheduler.Filter]int64{scheduler.TaintToleration: s.taints, scheduler.NodeAffinity: s.affinity,
			scheduler.InterPodAffinity: s.interPod, scheduler.PodTopologySpread: s.spread}
		for i := range plugins {
			v := relative[scheduler.Filter(plugins[i].Name)]
			if plugins[i].NodeScore != nil {
				v = plugins[i].NodeScore(q.nodes.model, in, n)
			}
			visit(n, &plugins[i], v)
		}
	}
}

func (q *Predictor) predictTerminating(victim cluster.NodeID, out *prediction.State, x *stateBuffers) {
	q.odds.saved.known = false
	q.listFeasible(victim)
	q.predictState(victim, out, x, true)
}

// listFeasible lists the feasible nodes, and the special nodes among them.
func (q *Predictor) listFeasible(victim cluster.NodeID) {
	q.feasible.allowGroups()
	q.feasible.find()
	q.special.collect(victim)
}

// groupByScore finds the score groups, and reports whether those of ordinary nodes are the same as before. Unless fresh
// is set, their lists are then kept.
func (q *Predictor) groupByScore(fresh bool) (alike bool) {
	alike = q.scores.findScoreGroups()
	q.top.lists = append(q.top.lists, make([]scoreList, max(0, len(q.scores.groups)-len(q.top.lists)))...)
	if fresh || !alike {
		q.top.reset()
	}
	q.top.listSpecialNodes()
	return alike
}

// predictGone predicts the state in which the victim is gone. The caller must call
// predictTerminating before. Unless filters examine each node, pods are nominated or the allowed groups
// change, only the feasibility of the victim's node differs between the two states.
func (q *Predictor) predictGone(victim cluster.NodeID, out *prediction.State, x *stateBuffers) {
	if q.pod.findsTwice || q.feasible.allowGroups() {
		q.predictTerminating(victim, out, x)
		return
	}
	q.updateVictimNode(victim)
	q.predictState(victim, out, x, false)
}

func (q *Predictor) updateVictimNode(victim cluster.NodeID) {
	i := slices.IndexFunc(q.special.list, func(x specialNode) bool { return x.node == victim })
	if i < 0 {
		return // the class cannot run on that node
	}
	x := &q.special.list[i]
	if q.feasible.isFeasible(victim) != x.feasible {
		from, by := q.feasible.toggle(q.nodes.position[victim])
		q.top.renumber(from, by)
		q.special.renumber(from, by)
	}
	q.special.score(x)
}

// predictState computes the odds of the current state. The second state reuses the odds of the starts whose windows
// cannot contain the victim's node.
func (q *Predictor) predictState(victim cluster.NodeID, out *prediction.State, x *stateBuffers, fresh bool) {
	alike := q.groupByScore(fresh)
	if q.feasible.count <= q.pod.sampleSize {
		q.predictUnsampled(out, x)
		return
	}
	q.feasible.wrap()
	q.odds.clear()
	q.windows.find()
	with, others := q.windows.splitStarts(victim)
	if q.odds.saved.known && alike {
		q.odds.restore()
	} else {
		q.windows.predictStarts(others)
		q.odds.save()
	}
	q.windows.predictStarts(with)
	q.levels.mixInRandomSamples(q.RandomSampleWeight)
	q.writeState(out, x)
}

// predictUnsampled finds the nodes with the best total score if the scheduler scores every feasible
// node.
func (q *Predictor) predictUnsampled(out *prediction.State, x *stateBuffers) {
	*out = prediction.State{}
	if q.feasible.count == 0 {
		return
	}
	out.Winners = x.winners[:0]
	q.scores.scoreAllFeasible()
	q.levels.resetLevels()
	total := q.levels.nodesWithNextBestScore()
	out.Best, out.FeasibleSet = total, q.feasible.set(x)
	for k, t := range q.levels.nextTotal {
		if s, level := &q.top.lists[k], q.levels.nextLevel[k]; t == total {
			for _, at := range s.nodes[s.levelStarts[level]:s.levelStarts[level+1]] {
				out.Winners = append(out.Winners, q.nodes.model.NodeOrder[q.feasible.positions[at]])
			}
		}
	}
	slices.Sort(out.Winners)
	x.winners = out.Winners
}

// stateBuffers holds the slices of a predicted State for reuse.
type stateBuffers struct {
	feasible []uint64
	winners  []cluster.NodeID
	odds     []float64
}

func (q *Predictor) writeState(out *prediction.State, x *stateBuffers) {
	out.SampleSize, out.Best, out.FeasibleSet = q.pod.sampleSize, q.odds.maxTotal, q.feasible.set(x)
	x.winners, x.odds = x.winners[:0], x.odds[:0]
	for n := range q.odds.nodes {
		if odds := q.odds.byNode[n]; odds > 0 {
			x.winners, x.odds = append(x.winners, cluster.NodeID(n)), append(x.odds, odds)
		}
	}
	out.Winners, out.Odds = x.winners, x.odds
}

// NewPredictor returns a predictor for the model. From then on, the model calls it for every node whose pods change.
func NewPredictor(w *model.Cluster, groups *GroupCache) *Predictor {
	n := len(w.Snap.Nodes)
	words := (n + 63) / 64
	q := &Predictor{groups: groups, parts: parts{nodes: newNodeResources(w)}}
	q.pod.scratch, q.bounds.covered = &cycle.Scratch{}, map[coveredGroups][]cover{}
	w.OnChange = q.nodes.update
	q.feasible = feasibleNodes{parts: &q.parts, positions: make([]int32, 2*n), bits: make([]uint64, words), countBefore: make([]int32, words)}
	for at := range int32(n) {
		q.feasible.all = append(q.feasible.all, at)
	}
	q.special = specialNodes{parts: &q.parts, positions: make([]uint64, words)}
	q.top, q.scores = topNodes{parts: &q.parts}, relativeScores{parts: &q.parts}
	q.levels, q.windows = levelSearch{parts: &q.parts}, windowEvents{parts: &q.parts}
	q.odds = nodeOdds{byNode: make([]float64, n), bits: make([]uint64, words)}
	return q
}
