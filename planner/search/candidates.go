package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// candidates lists the pods whose eviction could improve goal g, best first. The next call of candidates overwrites
// the list.
func (c *goalSearch) candidates(g int) []candidate {
	out := c.candidateBuffer[:0]
	c.Snapshot.Work.Spend(1 + len(c.PodsOf(g)))
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
		out = append(out, candidate{pod: id, owner: p.Workload, rank: c.rank(id), benefit: c.Goals.BenefitOfLeaving(id, from),
			EvictionOrder: c.orderOf(p), size: c.sizeFor(goal, p)})
	}
	c.candidateBuffer = out
	c.sortCandidates(out)
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
	onlyFirst       bool   // the search now considers only the goals in Goals.First
	unmetAttempts   []int  // by goal: attempts that left it unmet
	begun           []bool // by goal: the search has looked at its pods
	fixed           []bool // by goal: no pod of it may ever leave
	candidateBuffer []candidate
}
