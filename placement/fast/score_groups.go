package fast

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// relativeScores holds the score groups and their relative scores: the scores that depend on the
// other nodes in the sample.
type relativeScores struct {
	*parts
	groups   []scoreGroup // those of the node groups, then those of the special nodes
	pods     []int32      // by score group, then by soft constraint: matching pods; noLabel without the label
	ordinary int          // number of score groups of node groups
	groupOf  []int32      // by node group: its score group
	domains  []int32      // by node group, then by soft constraint other than the host name: its domain
	nodePods []int32      // scratch: pods of one node

	previous     []scoreGroup // groups, pods and groupOf of the previous prediction
	previousPods []int32
	previousOf   []int32

	membersByDomain [][]int32 // by soft constraint, then by domain: members of the window
	presentDomains  []int     // by soft constraint: number of domains in the window
	scoredDomains   []int     // the number that spreadScore was computed with; 0: not yet computed
	spreadWeights   []float64 // by soft constraint: the weights for scoredDomains
}

// scoreGroup holds nodes with equal inputs to the relative scores, and their scores in the current
// window. Special nodes have score groups of their own.
type scoreGroup struct {
	scoreInputs
	presence      int32 // number of its members in the window
	spreadScore   int64 // raw score of the soft constraints
	relativeScore int64 // weighted sum of the relative scores in the window
}

// scoreInputs holds the raw values of a node's relative scores, except those of soft constraints.
type scoreInputs struct {
	taints, preferred, interPod int64
	unspread                    bool // the score for soft constraints is 0
}

const noLabel = -1

// windowMember is a special node, or the other feasible nodes of a node group.
type windowMember struct{ scoreGroup, nodeGroup int32 }

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
	slot, soft := q.sumDomains(), len(q.pod.softSpread)
	q.groups, q.previous = q.previous[:0], q.groups[:q.ordinary]
	q.pods, q.previousPods = q.previousPods[:0], q.pods[:min(len(q.pods), q.ordinary*soft)]
	q.groupOf, q.previousOf = q.previousOf[:0], q.groupOf
	q.domains, q.scoredDomains = q.domains[:0], cycle.ResizeZeroed(q.scoredDomains, soft)
	for _, n := range q.pod.view.groups.nodes {
		q.groupOf = append(q.groupOf, q.groupWith(q.inputsWithoutPodCounts(n, slot), 0))
	}
	q.ordinary = len(q.groups)
	alike = slices.Equal(q.groupOf, q.previousOf) && slices.Equal(q.pods, q.previousPods) &&
		slices.EqualFunc(q.groups, q.previous, func(a, b scoreGroup) bool { return a.scoreInputs == b.scoreInputs })
	for i := range q.special.list {
		if x := &q.special.list[i]; x.feasible {
			x.scoreGroup = q.groupWith(q.specialInputs(x), q.ordinary)
		}
	}
	return alike
}

// groupWith returns the score group, at or after `from`, that has these inputs and those in nodePods. It adds the group
// if there is none.
func (q *relativeScores) groupWith(r scoreInputs, from int) int32 {
	soft := len(q.pod.softSpread)
	for k := from; k < len(q.groups); k++ {
		if q.groups[k].scoreInputs == r && slices.Equal(q.pods[k*soft:(k+1)*soft], q.nodePods) {
			return int32(k)
		}
	}
	q.groups, q.pods = append(q.groups, scoreGroup{scoreInputs: r}), append(q.pods, q.nodePods...)
	return int32(len(q.groups) - 1)
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
		c := &q.pod.softSpread[i]
		if c.Hostname {
			continue
		}
		counts := q.pod.scratch.ResetCounts(slot+len(q.pod.view.scored)+i, c.Topology.Size)
		for _, x := range c.Pods.Nodes {
			if c.CountedNodes[x.Node] && (!in.Spread.RequireAllKeys || in.Spread.SoftKeyNodes[x.Node]) {
				counts[max(c.Topology.Domain[x.Node], 0)] += x.Pods // the empty value stands for no label
			}
		}
	}
	return slot
}

// inputsWithoutPodCounts returns the score inputs of a node without its counts of pods, stores those of soft
// constraints in nodePods, and appends the domains of the node.
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
	q.nodePods = q.nodePods[:0]
	for i := range q.pod.softSpread {
		c, pods := &q.pod.softSpread[i], int32(0)
		switch x := c.Topology.Domain[n]; {
		case x == model.NoDomain:
			pods = noLabel
		case !c.Hostname:
			pods = b.CountsByDomain[slot+i][x]
		}
		q.nodePods, q.domains = append(q.nodePods, pods), append(q.domains, max(c.Topology.Domain[n], 0))
	}
	return r
}

// specialInputs adds to the score inputs of the node's group the pods that are counted per node.
func (q *relativeScores) specialInputs(x *specialNode) scoreInputs {
	k, soft := int(q.groupOf[x.group]), len(q.pod.softSpread)
	r := q.groups[k].scoreInputs
	q.nodePods = append(q.nodePods[:0], q.pods[k*soft:(k+1)*soft]...)
	for i := range q.pod.softSpread {
		if q.pod.softSpread[i].Hostname && q.nodePods[i] != noLabel {
			q.nodePods[i] = q.pod.softSpread[i].Pods.CountOn(x.node)
		}
	}
	for _, t := range q.pod.view.scoredByNode {
		if t.Topology.Domain[x.node] != model.NoDomain {
			r.interPod += t.Weight * int64(t.Pods.CountOn(x.node))
		}
	}
	return r
}

// emptyWindow begins a window without members.
func (q *relativeScores) emptyWindow() {
	for k := range q.groups {
		q.groups[k].presence = 0
	}
	for len(q.membersByDomain) < len(q.pod.softSpread) {
		q.membersByDomain = append(q.membersByDomain, nil)
	}
	for i := range q.pod.softSpread {
		q.membersByDomain[i] = cycle.ResizeZeroed(q.membersByDomain[i], q.pod.softSpread[i].Topology.Size)
	}
	q.presentDomains = cycle.ResizeZeroed(q.presentDomains, len(q.pod.softSpread))
}

// change adds a member to the window (by = 1), or removes it (by = -1).
func (q *relativeScores) change(m windowMember, by int32) {
	y, soft := &q.groups[m.scoreGroup], len(q.pod.softSpread)
	if y.presence += by; y.unspread {
		return
	}
	for i, domain := range q.domains[int(m.nodeGroup)*soft : (int(m.nodeGroup)+1)*soft] {
		members := &q.membersByDomain[i][domain]
		if *members += by; *members == max(by, 0) {
			q.presentDomains[i] += int(by)
		}
	}
}

// updateSpreadScores recomputes the raw spread scores for the window, which has this many nodes, and reports whether
// the scores changed.
func (q *relativeScores) updateSpreadScores(nodes int) (changed bool) {
	for k := 0; len(q.pod.view.unspread) > 0 && k < len(q.groups); k++ {
		if q.groups[k].unspread {
			nodes -= int(q.groups[k].presence)
		}
	}
	soft := q.pod.softSpread
	for i := range soft {
		if soft[i].Hostname {
			q.presentDomains[i] = nodes
		}
		changed = changed || q.presentDomains[i] != q.scoredDomains[i]
	}
	if !changed {
		return false
	}
	copy(q.scoredDomains, q.presentDomains)
	q.spreadWeights = q.spreadWeights[:0]
	for _, domains := range q.scoredDomains {
		q.spreadWeights = append(q.spreadWeights, math.Log(float64(domains+2)))
	}
	for k := range q.groups {
		sum := 0.0
		for i, pods := range q.pods[k*len(soft) : (k+1)*len(soft)] {
			if pods != noLabel { // the product is rounded before the addition, so every processor computes the same sum
				sum += float64(float64(pods)*q.spreadWeights[i]) + float64(soft[i].MaxSkew-1)
			}
		}
		q.groups[k].spreadScore = int64(math.Round(sum))
	}
	return true
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
	if x.interPodMax > x.interPodMin {
		s.interPod = int64(scheduler.MaxScore * (float64(y.interPod-x.interPodMin) / float64(x.interPodMax-x.interPodMin)))
	}
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
	for k := range q.groups {
		q.groups[k].relativeScore = q.relativeScore(&q.groups[k], x)
	}
}

// relativeScore returns the weighted sum of the scores of scoresOf.
func (q *relativeScores) relativeScore(y *scoreGroup, x *scoreRanges) int64 {
	weights, s := &q.pod.replacement.Profile.Weights, q.scoresOf(y, x)
	return weights.TaintToleration*s.taints + weights.NodeAffinity*s.affinity + weights.InterPodAffinity*s.interPod + weights.PodTopologySpread*s.spread
}

// scoreAllFeasible computes the relative scores as if the window contained all feasible nodes, and returns the ranges
// of raw scores.
func (q *relativeScores) scoreAllFeasible() scoreRanges {
	q.emptyWindow()
	for g := range q.groupOf {
		if q.special.hasOrdinary(g) {
			q.change(windowMember{q.groupOf[g], int32(g)}, 1)
		}
	}
	for i := range q.special.list {
		if x := &q.special.list[i]; x.feasible {
			q.change(windowMember{x.scoreGroup, x.group}, 1)
		}
	}
	q.updateSpreadScores(q.feasible.count)
	x := q.presentRanges()
	q.computeRelativeScores(&x)
	return x
}
