package fast

import (
	"math"

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

// relativeScores holds the score groups and their relative scores: the scores that depend on the
// other nodes in the sample.
type relativeScores struct {
	pod           *podToPlace
	nodes         *nodeResources
	feasible      *feasibleNodes
	special       *specialNodes
	top           *topNodes
	groups        []scoreGroup                // one for each node group, then those of the special nodes
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
func (q *relativeScores) findScoreGroups() (alike, ok bool) {
	sums, groups := q.sumDomains(), len(q.pod.view.groups.nodes)
	for len(q.groups) < groups {
		q.groups = append(q.groups, scoreGroup{})
	}
	alike = true
	for g, n := range q.pod.view.groups.nodes {
		r := q.inputsWithoutPodCounts(n, sums)
		alike = alike && q.groups[g].scoreInputs == r
		q.groups[g] = scoreGroup{scoreInputs: r}
	}
	q.groups = q.groups[:groups]
	for i := range q.special.list {
		x := &q.special.list[i]
		if !x.feasible {
			continue
		}
		r := q.specialInputs(q.groups[x.group].scoreInputs, x.node)
		at := groups
		for at < len(q.groups) && q.groups[at].scoreInputs != r {
			at++
		}
		if at == len(q.groups) {
			if at-groups == maxScoreGroups {
				return false, false
			}
			q.groups = append(q.groups, scoreGroup{scoreInputs: r})
		}
		x.scoreGroup = int32(at)
	}
	q.top.listSpecialNodes(groups, len(q.groups))
	return alike, true
}

// sumDomains counts pods by domain: first for the scored inter-pod terms, then for the soft
// constraints. The result is the first slot of these counts.
func (q *relativeScores) sumDomains() int {
	slot, r := len(q.pod.replacement.Spread.Hard)+len(q.pod.replacement.InterPod.Required)+len(q.pod.view.anti), cycle.Attempt{Model: q.nodes.model, Scratch: q.pod.scratch, Replacement: q.pod.replacement}
	for i, t := range q.pod.view.scored {
		q.pod.scratch.CountTerm(slot+i, t)
	}
	for i := range q.pod.softSpread {
		if !q.pod.softSpread[i].Hostname {
			r.FilterSlots = slot + len(q.pod.view.scored) + i
			score.CountSpreadPods(&r, &q.pod.softSpread[i])
		}
	}
	return slot
}

// inputsWithoutPodCounts returns the score inputs of a node without its counts of pods.
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
	for i := range q.pod.softSpread {
		c := &q.pod.softSpread[i]
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
func (q *relativeScores) specialInputs(r scoreInputs, n cluster.NodeID) scoreInputs {
	for i := range q.pod.softSpread {
		if q.pod.softSpread[i].Hostname && r.spreadPods[i] != sampling.NoLabel {
			r.spreadPods[i] = int64(q.pod.softSpread[i].Pods.CountOn(n))
		}
	}
	for _, t := range q.pod.view.scoredByNode {
		if t.Topology.Domain[n] != model.NoDomain {
			r.interPod += t.Weight * int64(t.Pods.CountOn(n))
		}
	}
	return r
}

// updateSpreadScores recomputes the raw spread scores for a window with this many nodes and the
// present score groups, and reports whether the scores changed.
func (q *relativeScores) updateSpreadScores(nodes int) bool {
	var weights [maxSoftConstraints]float64
	for i := range q.pod.softSpread {
		domains := nodes
		if !q.pod.softSpread[i].Hostname {
			domains = q.countPresentDomains(i)
		}
		weights[i] = math.Log(float64(domains + 2))
	}
	if weights == q.spreadWeights {
		return false
	}
	q.spreadWeights = weights
	for k := range q.groups {
		x, sum := &q.groups[k], 0.0
		for i := range q.pod.softSpread {
			if x.spreadPods[i] >= 0 {
				sum += score.SpreadTerm(int32(x.spreadPods[i]), weights[i], q.pod.softSpread[i].MaxSkew)
			}
		}
		x.spreadScore = int64(math.Round(sum))
	}
	return true
}

// countPresentDomains counts the domains of a soft constraint that contain a present score group.
func (q *relativeScores) countPresentDomains(constraint int) (count int) {
	seen := cycle.ResizeZeroed(q.pod.scratch.Seen, q.pod.softSpread[constraint].Topology.Size)
	q.pod.scratch.Seen = seen
	for k := range q.groups {
		if x := &q.groups[k]; x.presence > 0 && !seen[x.spreadDomain[constraint]] {
			seen[x.spreadDomain[constraint]] = true
			count++
		}
	}
	return count
}

func (q *relativeScores) presentRanges() sampling.Ranges {
	x := sampling.Ranges{InterPodMin: math.MaxInt64, InterPodMax: math.MinInt64, SpreadMin: math.MaxInt64}
	for k := range q.groups {
		y := &q.groups[k]
		if y.presence == 0 {
			continue
		}
		x.Taints, x.Preferred = max(x.Taints, y.taints), max(x.Preferred, y.preferred)
		x.InterPodMin, x.InterPodMax = min(x.InterPodMin, y.interPod), max(x.InterPodMax, y.interPod)
		x.SpreadMin, x.SpreadMax = min(x.SpreadMin, y.spreadScore), max(x.SpreadMax, y.spreadScore)
	}
	return x
}

func (q *relativeScores) computeRelativeScores(x *sampling.Ranges) {
	weights := &q.pod.replacement.Profile.Weights
	for k := range q.groups {
		y := &q.groups[k]
		sum := weights.TaintToleration * (scheduler.MaxScore - sampling.PercentOfMax(y.taints, x.Taints))
		sum += weights.NodeAffinity * sampling.PercentOfMax(y.preferred, x.Preferred)
		sum += weights.InterPodAffinity * score.ScaleToRange(y.interPod, x.InterPodMin, x.InterPodMax, scheduler.MaxScore)
		switch {
		case len(q.pod.softSpread) == 0:
		case x.SpreadMax == 0:
			sum += weights.PodTopologySpread * scheduler.MaxScore
		default:
			sum += weights.PodTopologySpread * (scheduler.MaxScore * (x.SpreadMax + x.SpreadMin - y.spreadScore) / x.SpreadMax)
		}
		y.relativeScore = int32(sum)
	}
}

// scoreAllFeasible computes the relative scores as if the window contained all feasible nodes.
func (q *relativeScores) scoreAllFeasible() {
	for k := range q.groups {
		q.groups[k].presence = 1
		if s := &q.top.lists[k]; len(s.nodes) == 0 && s.unlistedMax == noScore {
			q.groups[k].presence = 0
		}
	}
	q.updateSpreadScores(q.feasible.count)
	x := q.presentRanges()
	q.computeRelativeScores(&x)
}
