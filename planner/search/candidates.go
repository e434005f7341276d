package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// A candidate is a pod whose eviction could improve a goal.
type candidate struct {
	pod cluster.PodID
	// rank orders candidates by annotations and drain requests: -1 is first, 1 is last.
	rank int
	// benefit is the share of each goal's initial excess that the eviction removes, weighted and summed over goals.
	benefit float64
	// size sums the pod's requests as shares of the node; goals by load use the measured usage. For group goals, size
	// is 0. If two pods have the same benefit, the search prefers the smaller pod.
	size float64
	cost float64
}

// candidates lists the pods whose eviction could improve goal g, best first. The next call of candidates overwrites
// the list.
func (c *goalSearch) candidates(g int) []candidate {
	out := c.candidateBuffer[:0]
	goal := &c.Goals.Goals[g]
	tried := c.triedMark(g)
	for _, id := range c.PodsOf(g) {
		from := c.NodeOf(id)
		if c.Moved[id] || c.triedIn[id] == tried || from == cluster.NoNode || !c.Goals.CouldImprove(g, id, from) {
			continue
		}
		if c.scope == nodeAndGroup && !c.Goals.InStatedOrder(g) && !c.Goals.CouldImproveNodeAndGroup(id, from) {
			continue
		}
		p := &c.Snapshot.Pods[id]
		out = append(out, candidate{id, c.Eligibility.Rank(id), c.Goals.BenefitOfLeaving(id, from), c.sizeFor(goal, p), c.costOf(p)})
	}
	c.candidateBuffer = out
	slices.SortFunc(out, func(a, b candidate) int {
		if by := cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.benefit, a.benefit), cmp.Compare(a.size, b.size),
			cmp.Compare(a.cost, b.cost)); by != 0 {
			return by
		}
		return cmp.Or(c.compareStartTimes(a.pod, b.pod), cmp.Compare(a.pod, b.pod))
	})
	return out
}

func (c *pass) sizeFor(g *plan.Goal, p *cluster.Pod) float64 {
	if g.Kind != plan.NodeBelow {
		return 0
	}
	if g.Basis == plan.BasisLoad {
		return c.usageSize(g, p)
	}
	var size float64
	alloc := &c.Snapshot.Nodes[g.Node].Allocatable
	if len(alloc.Extended) == 0 { // the common case, without the cost of Names; the order is that of Names
		for _, x := range [...][2]int64{{p.Requests.MilliCPU, alloc.MilliCPU},
			{p.Requests.EphemeralStorageByte, alloc.EphemeralStorageByte}, {p.Requests.MemoryBytes, alloc.MemoryBytes}} {
			if x[1] > 0 {
				size += float64(x[0]) / float64(x[1])
			}
		}
		return size
	}
	for _, r := range alloc.Names() {
		if total := alloc.Get(r); total > 0 {
			size += float64(p.Requests.Get(r)) / float64(total)
		}
	}
	return size
}

// costOf returns the eviction cost of a pod and caches the result.
func (c *goalSearch) costOf(p *cluster.Pod) float64 {
	if c.costByPod == nil {
		c.costByPod = make([]float64, len(c.Snapshot.Pods))
	}
	if c.costByPod[p.ID] == 0 {
		c.costByPod[p.ID] = eligibility.EvictionCost(p)
	}
	return c.costByPod[p.ID]
}

// compareStartTimes orders pods by start time, latest first: a young pod loses less cached data.
func (c *pass) compareStartTimes(a, b cluster.PodID) int {
	sa, sb := c.Snapshot.Pods[a].Object.Status.StartTime, c.Snapshot.Pods[b].Object.Status.StartTime
	if sa == nil || sb == nil {
		return 0
	}
	return sb.Compare(sa.Time)
}

// usageSize sums a pod's usage as shares of the node's totals, over the goals by load.
func (c *pass) usageSize(g *plan.Goal, p *cluster.Pod) float64 {
	var size float64
	for _, i := range c.Goals.ByNode[g.Node] {
		if b, ok := c.Goals.Measures[i].(*goal.NodeMeasure); ok && b.Amounts.Measure.ByUsage && b.Total > 0 {
			size += float64(b.Amounts.Contribution(p.ID, b.Node)) / float64(b.Total)
		}
	}
	return size
}

// countUnmet increments unmetAttempts of each unmet requested goal and reports whether any goal is unmet.
func (c *goalSearch) countUnmet() (some bool) {
	for g := range c.Goals.Goals {
		if goal.Requests(c.Goals, g) && c.Goals.Excess(g) > 0 {
			c.unmetAttempts[g]++
			some = true
		}
	}
	return some
}

// countUnmetPods sums the number of pods over the unmet goals.
func (c *goalSearch) countUnmetPods() (pods int) {
	for _, g := range c.Goals.UnmetByPriority(c.unmetAttempts) {
		pods += len(c.PodsOf(g))
	}
	return pods
}

// goalSearch tries the pods of unmet goals.
type goalSearch struct {
	waveBuilder
	// triedIn is the last round in which the search rejected the pod's landing or compared its move, by pod. The
	// search skips the pod for the rest of that round.
	triedIn         []int32
	round           int32
	onlyFirst       bool  // the search now considers only the goals in Goals.First
	unmetAttempts   []int // by goal: attempts that left it unmet
	candidateBuffer []candidate
	costByPod       []float64 // by pod; 0: not computed yet
}
