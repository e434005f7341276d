package fast

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// relativeScores holds the score groups and their relative scores: the scores that depend on the
// other nodes in the sample.
type relativeScores struct {
	pod           *podToPlace
	nodes         *nodeResources
	feasible      *feasibleNodes
	special       *specialNodes
	top           *topNodes
	groups        []scoreGroup  // one for each node group, then those of the special nodes
	spread        []spreadInput // by score group, then by soft constraint
	spreadWeights []float64     // by soft constraint; spreadScore was computed with them; 0: not yet
	nodeSpread    []spreadInput // scratch: by soft constraint
}

// scoreGroup holds nodes with equal inputs to the relative scores, and their scores in the current
// window.
type scoreGroup struct {
	scoreInputs
	inEveryWindow int32 // 1 if every window contains the group
	presence      int32 // number of nodes in the window; for a node group 1 if any
	spreadScore   int64 // raw score of the soft constraints
	relativeScore int64 // weighted sum of the relative scores in the window
}

// scoreInputs holds the raw values of a node's relative scores, except those of soft constraints.
type scoreInputs struct {
	taints, preferred, interPod int64
	unspread                    bool // the score for soft constraints is 0
}

// spreadInput holds what the score reads about a node for one soft constraint.
type spreadInput struct {
	pods   int32 // matching pods; noLabel for a node without the label
	domain int32
}

const noLabel = -1

// scoreRanges are the smallest and largest raw scores in a sample. The ranges normalise raw scores to
// 0..100.
type scoreRanges struct {
	taints, preferred        int64 // maximum; the minimum is 0
	interPodMin, interPodMax int64
	spreadMin, spreadMax     int64
}

// findScoreGroups finds the score groups of the node groups and of the special nodes, and reports whether the node
// groups have the same inputs as before.
func (q *relativeScores) findScoreGroups() (alike bool) {
	sums, groups, soft := q.sumDomains(), len(q.pod.view.groups.nodes), len(q.pod.softSpread)
	for len(q.groups) < groups {
		q.groups = append(q.groups, scoreGroup{})
	}
	q.spread, q.spreadWeights = cycle.ResizeSlice(q.spread, groups*soft), cycle.ResizeZeroed(q.spreadWeights, soft)
	alike = true
	for g, n := range q.pod.view.groups.nodes {
		r, spread := q.inputsWithoutPodCounts(n, sums), q.spread[g*soft:(g+1)*soft]
		alike = alike && q.groups[g].scoreInputs == r && slices.Equal(spread, q.nodeSpread)
		q.groups[g] = scoreGroup{scoreInputs: r}
		copy(spread, q.nodeSpread)
	}
	q.groups = q.groups[:groups]
	for i := range q.special.list {
		x := &q.special.list[i]
		if !x.feasible {
			continue
		}
		r := q.specialInputs(x)
		at := groups
		for at < len(q.groups) && (q.groups[at].scoreInputs != r || !slices.Equal(q.spread[at*soft:(at+1)*soft], q.nodeSpread)) {
			at++
		}
		if at == len(q.groups) {
			q.groups, q.spread = append(q.groups, scoreGroup{scoreInputs: r}), append(q.spread, q.nodeSpread...)
		}
		x.scoreGroup = int32(at)
	}
	q.top.listSpecialNodes(groups, len(q.groups))
	return alike
}

// sumDomains counts pods by domain: first for the scored inter-pod terms, then for the soft
// constraints. The result is the first slot of these counts.
func (q *relativeScores) sumDomains() int {
	in := q.pod.replacement
	slot := len(in.Spread.Hard) + len(in.InterPod.Required) + len(q.pod.view.anti)
	for i, t := range q.pod.view.scored {
		q.pod.scratch.CountTerm(slot+i, t)
	}
	for i := range q.pod.softSpread {
		if !q.pod.softSpread[i].Hostname {
			score.CountSpreadPods(q.pod.scratch, slot+len(q.pod.view.scored)+i, &in.Spread, &q.pod.softSpread[i])
		}
	}
	return slot
}

// inputsWithoutPodCounts returns the score inputs of a node without its counts of pods, and stores those of soft
// constraints in nodeSpread.
func (q *relativeScores) inputsWithoutPodCounts(n cluster.NodeID, slot int) (r scoreInputs) {
	f, weights, b := &q.pod.replacement.StaticScores, &q.pod.replacement.Profile.Weights, q.pod.scratch
	if weights.TaintToleration > 0 {
		r.taints = f.PreferNoSchedule[n] + f.HintTaint*q.nodes.model.Hints.ExtraTaints(n)
	}
	if weights.NodeAffinity > 0 && f.Preferred != nil {
		r.preferred = f.Preferred[n]
	}
	for i, t := range q.pod.view.scored {
		if x := t.Topology.Domain[n]; x != model.NoDomain {
			r.interPod += t.Weight * int64(b.CountsByDomain[slot+i][x])
		}
	}
	slot += len(q.pod.view.scored)
	r.unspread = len(q.pod.softSpread) > 0 && q.pod.replacement.Spread.RequireAllKeys && !q.pod.replacement.Spread.SoftKeyNodes[n]
	q.nodeSpread = cycle.ResizeZeroed(q.nodeSpread, len(q.pod.softSpread))
	for i := range q.pod.softSpread {
		c, in := &q.pod.softSpread[i], &q.nodeSpread[i]
		x := c.Topology.Domain[n]
		if !c.Hostname {
			in.domain = score.DomainOrEmpty(c.Topology, int(n))
		}
		switch {
		case x == model.NoDomain:
			in.pods = noLabel
		case !c.Hostname:
			in.pods = b.CountsByDomain[slot+i][x]
		}
	}
	return r
}

// specialInputs adds to the score inputs of the node's group the pods that are counted per node.
func (q *relativeScores) specialInputs(x *specialNode) scoreInputs {
	r, soft := q.groups[x.group].scoreInputs, len(q.pod.softSpread)
	copy(q.nodeSpread, q.spread[int(x.group)*soft:])
	for i := range q.pod.softSpread {
		if q.pod.softSpread[i].Hostname && q.nodeSpread[i].pods != noLabel {
			q.nodeSpread[i].pods = q.pod.softSpread[i].Pods.CountOn(x.node)
		}
	}
	for _, t := range q.pod.view.scoredByNode {
		if t.Topology.Domain[x.node] != model.NoDomain {
			r.interPod += t.Weight * int64(t.Pods.CountOn(x.node))
		}
	}
	return r
}

// updateSpreadScores recomputes the raw spread scores for a window with this many nodes and the
// present score groups, and reports whether the scores changed.
func (q *relativeScores) updateSpreadScores(nodes int) (changed bool) {
	if len(q.pod.view.unspread) > 0 {
		for k := range q.groups {
			if q.groups[k].unspread {
				nodes -= int(q.groups[k].presence)
			}
		}
	}
	for i := range q.pod.softSpread {
		domains := nodes
		if !q.pod.softSpread[i].Hostname {
			domains = q.countPresentDomains(i)
		}
		weight := math.Log(float64(domains + 2))
		changed = changed || q.spreadWeights[i] != weight
		q.spreadWeights[i] = weight
	}
	for k := 0; changed && k < len(q.groups); k++ {
		sum := 0.0
		for i, weight := range q.spreadWeights {
			if in := q.spread[k*len(q.spreadWeights)+i]; in.pods != noLabel {
				sum += score.SpreadTerm(in.pods, weight, q.pod.softSpread[i].MaxSkew)
			}
		}
		q.groups[k].spreadScore = int64(math.Round(sum))
	}
	return changed
}

// countPresentDomains counts the domains of a soft constraint that contain a present score group.
func (q *relativeScores) countPresentDomains(constraint int) (count int) {
	seen := cycle.ResizeZeroed(q.pod.scratch.Seen, q.pod.softSpread[constraint].Topology.Size)
	q.pod.scratch.Seen = seen
	for k := range q.groups {
		x, domain := &q.groups[k], q.spread[k*len(q.pod.softSpread)+constraint].domain
		if x.presence > 0 && !x.unspread && !seen[domain] {
			seen[domain] = true
			count++
		}
	}
	return count
}

func (q *relativeScores) presentRanges() scoreRanges {
	x := scoreRanges{interPodMin: math.MaxInt64, interPodMax: math.MinInt64, spreadMin: math.MaxInt64}
	for k := range q.groups {
		y := &q.groups[k]
		if y.presence == 0 {
			continue
		}
		x.taints, x.preferred = max(x.taints, y.taints), max(x.preferred, y.preferred)
		x.interPodMin, x.interPodMax = min(x.interPodMin, y.interPod), max(x.interPodMax, y.interPod)
		if !y.unspread {
			x.spreadMin, x.spreadMax = min(x.spreadMin, y.spreadScore), max(x.spreadMax, y.spreadScore)
		}
	}
	return x
}

// pluginScores are the scores of the plugins that compare nodes, 0 to 100.
type pluginScores struct{ taints, affinity, interPod, spread int64 }

// scoresOf returns the scores of a score group in a window with these ranges of raw scores.
func (q *relativeScores) scoresOf(y *scoreGroup, x *scoreRanges) (s pluginScores) {
	s.taints, s.affinity = scheduler.MaxScore-percentOfMax(y.taints, x.taints), percentOfMax(y.preferred, x.preferred)
	s.interPod = score.ScaleToRange(y.interPod, x.interPodMin, x.interPodMax)
	switch {
	case len(q.pod.softSpread) == 0 || y.unspread:
	case x.spreadMax == 0:
		s.spread = scheduler.MaxScore
	default:
		s.spread = scheduler.MaxScore * (x.spreadMax + x.spreadMin - y.spreadScore) / x.spreadMax
	}
	return s
}

// percentOfMax returns v in percent of most, 0 if most is 0.
func percentOfMax(v, most int64) int64 {
	if most == 0 {
		return 0
	}
	return scheduler.MaxScore * v / most
}

func (q *relativeScores) computeRelativeScores(x *scoreRanges) {
	weights := &q.pod.replacement.Profile.Weights
	for k := range q.groups {
		y := &q.groups[k]
		s := q.scoresOf(y, x)
		y.relativeScore = weights.TaintToleration*s.taints + weights.NodeAffinity*s.affinity +
			weights.InterPodAffinity*s.interPod + weights.PodTopologySpread*s.spread
	}
}

// scoreAllFeasible computes the relative scores as if the window contained all feasible nodes, and returns the ranges
// of raw scores.
func (q *relativeScores) scoreAllFeasible() scoreRanges {
	for k := range q.groups {
		s := &q.top.lists[k]
		q.groups[k].presence = int32(len(s.nodes))
		if s.unlistedMax != noScore {
			q.groups[k].presence = 1
		}
	}
	q.updateSpreadScores(q.feasible.count)
	x := q.presentRanges()
	q.computeRelativeScores(&x)
	return x
}
