package search

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

// If goal g is by usage, rejectUnknownUsage rejects the pods on its node whose usage is unknown.
func (c *rounds) rejectUnknownUsage(g int) {
	b, ok := c.sim.Goals.Measures[g].(*goal.NodeMeasure)
	if !ok || !b.Amounts.Measure.ByUsage {
		return
	}
	for _, id := range c.problem.PodsOf(g) {
		if c.account.Rejections.Has(id) || c.waves.moved[id] {
			continue
		}
		if why, unknown := c.usageUnknown(b, id); unknown {
			if more, no := c.account.Eligibility.RefuseFor(c.account.StrategyOf(g), id); no {
				why = more // this reason rejects the pod anyway
			}
			c.account.Rejections.Add(id, c.sim.Goals.Goals[g].Strategy, why)
		}
	}
}

// usageUnknown reports whether a pod's usage is unknown, with the reason.
func (c *rounds) usageUnknown(b *goal.NodeMeasure, pod cluster.PodID) (plan.Reason, bool) {
	resource, name := b.Amounts.Measure.Resource, c.sim.Snapshot.Nodes[b.Node].Name
	switch b.Amounts.PodQuality(pod) {
	case cluster.Unknown:
		if !c.sim.Snapshot.Usage.MeasuresPods(resource) {
			return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
				"the pod's %s usage is unknown: %s measures %s of nodes, but not of pods", resource, c.sim.Snapshot.Usage.Raw.Source, resource)}, true
		}
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
			"the pod's %s usage is unknown: %s measured %s, but not the pod", resource, c.sim.Snapshot.Usage.Raw.Source, name)}, true
	case cluster.BoundAfterSample:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
			"the pod's %s usage is not known yet: the pod came to %s after the last sample, of %s",
			resource, name, c.sim.Snapshot.Usage.MeasuredAt(b.Node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}

// spentState identifies a state of the search in which limits allow no move: the moves and the rejections so far.
type spentState struct {
	version    int // plus 1
	rejections *rejections.Set
}

func (c *rounds) state() spentState { return spentState{c.sim.version + 1, c.account.Rejections} }

// rejectSpent is rejectAll for a limit that allows no more moves for goal g. It does so once in each state.
func (c *rounds) rejectSpent(g int, reason plan.Reason) {
	if now := c.state(); c.spent != now {
		c.spent = now
		clear(c.rejected)
	}
	if !c.rejected[g] {
		c.rejected[g] = true
		c.rejectAll(g, reason)
	}
}

// rejectAll records the reason for all pods that could improve goal g and are not rejected yet. For
// pods that the goal's strategy may not move, it records that reason.
func (c *rounds) rejectAll(g int, reason plan.Reason) {
	for _, id := range c.problem.PodsOf(g) {
		if c.waves.moved[id] || c.account.Rejections.Has(id) && !c.rejectedOutOfScope(id) {
			continue
		}
		if from := c.sim.NodeOf(id); from != cluster.NoNode && c.sim.Goals.CouldImprove(g, id, from) {
			why := reason
			if r, barred := c.account.Eligibility.BarredFor(c.account.StrategyOf(g), id); barred {
				why = r
			}
			c.account.reject(id, g, why)
		}
	}
}

// rejectedOutOfScope reports whether the pod is rejected only as out of the scope of a strategy.
func (c *rounds) rejectedOutOfScope(pod cluster.PodID) bool {
	r, known := c.account.Rejections.Of(pod)
	return known && c.account.isOutOfScope(r.Reason)
}
