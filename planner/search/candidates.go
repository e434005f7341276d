package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// candidates lists the pods whose eviction could improve goal g, best first. The next call of candidates overwrites
// the list.
func (c *rounds) candidates(g int) []candidate {
	out := c.candidateBuffer[:0]
	c.sim.Snapshot.Work.Spend(1 + len(c.problem.PodsOf(g)))
	of := &c.sim.Goals.Goals[g]
	tried := c.triedMark(g)
	for _, id := range c.problem.PodsOf(g) {
		if c.waves.moved[id] || c.triedIn[id] == tried || c.waves.staysUnlikely(id) {
			continue
		}
		from := c.sim.NodeOf(id)
		if from == cluster.NoNode || !c.sim.Goals.CouldImprove(g, id, from) {
			continue
		}
		benefit, both := c.sim.Goals.WorthOfLeaving(id, from)
		if c.waves.scope == nodeAndGroup && !both && !c.sim.Goals.InStatedOrder(g) {
			continue
		}
		p := &c.sim.Snapshot.Pods[id]
		out = append(out, candidate{pod: id, owner: p.Workload, rank: c.order.rank(id), benefit: benefit,
			EvictionOrder: c.order.orderOf(p), size: c.sizeFor(of, p)})
	}
	c.candidateBuffer = out
	c.order.sortCandidates(out)
	return out
}

func (c *rounds) sizeFor(g *plan.Goal, p *cluster.Pod) float64 {
	if g.Kind != plan.NodeBelow {
		return 0
	}
	if g.Basis == plan.BasisLoad {
		return c.usageSize(g, p)
	}
	var size float64
	alloc := &c.sim.Snapshot.Nodes[g.Node].Allocatable
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
func (c *rounds) usageSize(g *plan.Goal, p *cluster.Pod) float64 {
	var size float64
	for _, i := range c.sim.Goals.ByNode[g.Node] {
		if b, ok := c.sim.Goals.Measures[i].(*goal.NodeMeasure); ok && b.Amounts.Measure.ByUsage && b.Total > 0 {
			size += float64(b.Amounts.Contribution(p.ID, b.Node)) / float64(b.Total)
		}
	}
	return size
}

// countUnmet increments unmetAttempts of each unmet requested goal and reports whether any goal is unmet.
func (c *rounds) countUnmet() (some bool) {
	for g := range c.sim.Goals.Goals {
		if goal.Requests(c.sim.Goals, g) && c.sim.Goals.Excess(g) > 0 {
			c.unmetAttempts[g]++
			some = true
		}
	}
	return some
}

// countUnmetPods sums the number of pods over the unmet goals.
func (c *rounds) countUnmetPods() (pods int) {
	goal.CountUnmet(c.sim.Goals, func(g int) { pods += len(c.problem.PodsOf(g)) })
	return pods
}
