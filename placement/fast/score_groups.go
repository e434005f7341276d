package fast

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// Limits of the fast prediction: soft spread constraints of a class, and score groups of special
// nodes.
const (
	maxSoftConstraints = 4
	maxScoreGroups     = 600
)

// relativeScorer computes the relative scores of the score groups: the scores that depend on the
// other nodes in the sample.
type relativeScorer struct {
	topNodes
	scoreGroups   []scoreGroup                // one for each node group, then those of the special nodes
	spreadWeights [maxSoftConstraints]float64 // by soft constraint; spreadScore was computed with them
}

// scoreGroup holds nodes with equal inputs to the relative scores, and their scores in the current
// window.
type scoreGroup struct {
	scoreInputs
	inEveryWindow int32 // 1 if every window contains the group
	presence      int32 // number of nodes in the window; for a node group 1 if any
	spreadScore   int64 // raw score of the soft constraints
	relativeScore int32 // weighted sum of the relative scores in the window
}

// scoreInputs holds the raw values of a node's relative scores.
type scoreInputs struct {
	taints, preferred, interPod int64
	spreadPods                  [maxSoftConstraints]int64 // by soft constraint: matching pods, or sampling.NoLabel
	spreadDomain                [maxSoftConstraints]int32
}

// findScoreGroups finds the score groups of the node groups and of the special nodes. The result ok
// is false if there are too many score groups. The result alike reports whether the node groups
// have the same inputs as before.
func (q *relativeScorer) findScoreGroups() (alike, ok bool) {
	sums, groups := q.sumDomains(), len(q.view.groups.nodes)
	for len(q.scoreGroups) < groups {
		q.scoreGroups = append(q.scoreGroups, scoreGroup{})
	}
	alike = true
	for g, n := range q.view.groups.nodes {
		r := q.groupInputs(n, sums)
		alike = alike && q.scoreGroups[g].scoreInputs == r
		q.scoreGroups[g] = scoreGroup{scoreInputs: r}
	}
	q.scoreGroups = q.scoreGroups[:groups]
	for i := range q.specialNodes {
		x := &q.specialNodes[i]
		if !x.feasible {
			continue
		}
		r := q.specialInputs(q.scoreGroups[x.group].scoreInputs, x.node)
		at := groups
		for at < len(q.scoreGroups) && q.scoreGroups[at].scoreInputs != r {
			at++
		}
		if at == len(q.scoreGroups) {
			if at-groups == maxScoreGroups {
				return false, false
			}
			q.scoreGroups = append(q.scoreGroups, scoreGroup{scoreInputs: r})
		}
		x.scoreGroup = int32(at)
	}
	q.listSpecialNodes(groups)
	return alike, true
}

// sumDomains counts pods by domain: first for the scored inter-pod terms, then for the soft
// constraints. The result is the first slot of these counts.
func (q *relativeScorer) sumDomains() int {
	slot, r := len(q.replacement.Spread.Hard)+len(q.replacement.InterPod.Required)+len(q.view.anti), cycle.Attempt{Model: q.model, Scratch: q.scratch, Replacement: q.replacement}
	for i, t := range q.view.scored {
		q.scratch.CountTerm(slot+i, t)
	}
	for i := range q.softSpread {
		if !q.softSpread[i].Hostname {
			r.FilterSlots = slot + len(q.view.scored) + i
			score.CountSpreadPods(&r, &q.softSpread[i])
		}
	}
	return slot
}

// groupInputs returns the score inputs of a node, except for pods that are counted per node.
func (q *relativeScorer) groupInputs(n cluster.NodeID, slot int) (r scoreInputs) {
	f, weights, b := &q.replacement.StaticScores, &q.replacement.Profile.Weights, q.scratch
	if weights.TaintToleration > 0 {
		r.taints = f.PreferNoSchedule[n] + f.HintTaint*q.model.Hints.ExtraTaints(n)
	}
	if weights.NodeAffinity > 0 && f.Preferred != nil {
		r.preferred = f.Preferred[n]
	}
	for i, t := range q.view.scored {
		if x := t.Topology.Domain[n]; x != model.NoDomain {
			r.interPod += t.Weight * int64(b.CountsByDomain[slot+i][x])
		}
	}
	slot += len(q.view.scored)
	for i := range q.softSpread {
		c := &q.softSpread[i]
		x := c.Topology.Domain[n]
		if !c.Hostname {
			r.spreadDomain[i] = score.DomainOrEmpty(c.Topology, int(n))
		}
		switch {
		case x == model.NoDomain:
			r.spreadPods[i] = sampling.NoLabel
		case !c.Hostname:
			r.spreadPods[i] = int64(b.CountsByDomain[slot+i][x])
		}
	}
	return r
}

// specialInputs adds to the score inputs of a node the pods that are counted per node.
func (q *relativeScorer) specialInputs(r scoreInputs, n cluster.NodeID) scoreInputs {
	for i := range q.softSpread {
		if q.softSpread[i].Hostname && r.spreadPods[i] != sampling.NoLabel {
			r.spreadPods[i] = int64(q.softSpread[i].Pods.CountOn(n))
		}
	}
	for _, t := range q.view.scoredByNode {
		if t.Topology.Domain[n] != model.NoDomain {
			r.interPod += t.Weight * int64(t.Pods.CountOn(n))
		}
	}
	return r
}

func (q *relativeScorer) listSpecialNodes(groups int) {
	for len(q.scoreLists) < len(q.scoreGroups) {
		q.scoreLists = append(q.scoreLists, scoreList{})
	}
	for k := groups; k < len(q.scoreGroups); k++ {
		q.scoreLists[k].reset()
	}
	list := q.specialOrder[:0]
	for i := range q.specialNodes {
		if q.specialNodes[i].feasible {
			x := &q.specialNodes[i]
			list = append(list, uint64(math.MaxUint16-x.fixedScore)<<48|uint64(x.feasibleIndex)<<24|uint64(i))
		}
	}
	q.specialOrder = list
	slices.Sort(list) // by falling score, then by feasible index; a score is at most 10,000
	for _, key := range list {
		x := &q.specialNodes[key&(1<<24-1)]
		s := &q.scoreLists[x.scoreGroup]
		if last := len(s.levelScores) - 1; last < 0 || s.levelScores[last] != x.fixedScore {
			s.levelScores, s.levelStarts = append(s.levelScores, x.fixedScore), append(s.levelStarts, int32(len(s.nodes)))
		}
		s.nodes = append(s.nodes, x.feasibleIndex)
	}
	for k := groups; k < len(q.scoreGroups); k++ {
		q.scoreLists[k].levelStarts = append(q.scoreLists[k].levelStarts, int32(len(q.scoreLists[k].nodes)))
	}
}

// updateSpreadScores recomputes the raw spread scores for a window with this many nodes and the
// present score groups, and reports whether the scores changed.
func (q *relativeScorer) updateSpreadScores(nodes int) bool {
	var weights [maxSoftConstraints]float64
	for i := range q.softSpread {
		domains := nodes
		if !q.softSpread[i].Hostname {
			domains = q.countPresentDomains(i)
		}
		weights[i] = math.Log(float64(domains + 2))
	}
	if weights == q.spreadWeights {
		return false
	}
	q.spreadWeights = weights
	for k := range q.scoreGroups {
		x, sum := &q.scoreGroups[k], 0.0
		for i := range q.softSpread {
			if x.spreadPods[i] >= 0 {
				sum += score.SpreadTerm(int32(x.spreadPods[i]), weights[i], q.softSpread[i].MaxSkew)
			}
		}
		x.spreadScore = int64(math.Round(sum))
	}
	return true
}

// countPresentDomains counts the domains of a soft constraint that contain a present score group.
func (q *relativeScorer) countPresentDomains(constraint int) (count int) {
	seen := cycle.ResizeZeroed(q.scratch.Seen, q.softSpread[constraint].Topology.Size)
	q.scratch.Seen = seen
	for k := range q.scoreGroups {
		if x := &q.scoreGroups[k]; x.presence > 0 && !seen[x.spreadDomain[constraint]] {
			seen[x.spreadDomain[constraint]] = true
			count++
		}
	}
	return count
}

func (q *relativeScorer) presentRanges() sampling.Ranges {
	x := sampling.Ranges{InterPodMin: math.MaxInt64, InterPodMax: math.MinInt64, SpreadMin: math.MaxInt64}
	for k := range q.scoreGroups {
		y := &q.scoreGroups[k]
		if y.presence == 0 {
			continue
		}
		x.Taints, x.Preferred = max(x.Taints, y.taints), max(x.Preferred, y.preferred)
		x.InterPodMin, x.InterPodMax = min(x.InterPodMin, y.interPod), max(x.InterPodMax, y.interPod)
		x.SpreadMin, x.SpreadMax = min(x.SpreadMin, y.spreadScore), max(x.SpreadMax, y.spreadScore)
	}
	return x
}

func (q *relativeScorer) computeRelativeScores(x *sampling.Ranges) {
	weights := &q.replacement.Profile.Weights
	for k := range q.scoreGroups {
		y := &q.scoreGroups[k]
		sum := weights.TaintToleration * (scheduler.MaxScore - sampling.PercentOfMax(y.taints, x.Taints))
		sum += weights.NodeAffinity * sampling.PercentOfMax(y.preferred, x.Preferred)
		sum += weights.InterPodAffinity * score.ScaleToRange(y.interPod, x.InterPodMin, x.InterPodMax, scheduler.MaxScore)
		switch {
		case len(q.softSpread) == 0:
		case x.SpreadMax == 0:
			sum += weights.PodTopologySpread * scheduler.MaxScore
		default:
			sum += weights.PodTopologySpread * (scheduler.MaxScore * (x.SpreadMax + x.SpreadMin - y.spreadScore) / x.SpreadMax)
		}
		y.relativeScore = int32(sum)
	}
}

// scoreAllFeasible computes the relative scores as if the window contained all feasible nodes.
func (q *relativeScorer) scoreAllFeasible() {
	for k := range q.scoreGroups {
		q.scoreGroups[k].presence = 1
		if s := &q.scoreLists[k]; len(s.nodes) == 0 && s.unlistedMax == noScore {
			q.scoreGroups[k].presence = 0
		}
	}
	q.updateSpreadScores(q.feasible.count)
	x := q.presentRanges()
	q.computeRelativeScores(&x)
}
