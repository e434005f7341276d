package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// StartAfter makes the moves of an earlier search part of the start: the search then begins in the predicted result of
// these moves. They count against the limits, their effects on budgets stay, and their pods may not leave again. The
// pods of moves without a predicted place keep their room. Both searches must be about the same snapshot and the same
// strategies. StartAfter must come before Run.
func (c *Search) StartAfter(earlier []WaveStep) {
	c.Earlier, c.podsLeft = earlier, map[cluster.NodeID][]cluster.PodID{}
	for i, m := range earlier {
		if m.Kind != WithoutPlace { // its replacement may come back, so no other move gets its room
			c.Apply(m.Step)
		}
		c.Limits.Add(m.Pod, m.Strategy)
		what := fmt.Sprintf("moves it from %s to %s", c.NodeName(m.From), c.NodeName(m.Landing.To))
		switch {
		case m.Kind == WithoutPlace:
			what = fmt.Sprintf("moves it from %s without a predicted place", c.NodeName(m.From))
		case m.Landing.To == cluster.NoNode:
			what = "removes it"
		}
		c.Eligibility.Forbid(m.Pod, plan.Reason{Code: plan.AlreadyPlanned, Message: fmt.Sprintf(
			"step %d of the automatic strategies %s", i+1, what)})
		c.podsLeft[m.From] = nil
	}
	for n := range c.podsLeft {
		c.podsLeft[n] = slices.DeleteFunc(slices.Clone(c.Snapshot.Nodes[n].Pods), func(p cluster.PodID) bool {
			at := c.Model.NodeOf(p)
			return at != n && at != cluster.NoNode
		})
	}
	was := slices.Clone(c.Goals.Goals)
	c.Goals.Restart()
	for i := range was {
		if g := &c.Goals.Goals[i]; g.Excess != was[i].Excess && g.Kind != plan.PodAway {
			g.Reason.Message = "after the moves of automatic strategies, " + excessMessage(g)
		}
	}
}

// excessMessage describes the excess of the goal at the start of the search. The strategy has described the snapshot.
func excessMessage(g *plan.Goal) string {
	if g.Kind == plan.NodeBelow {
		share, limit := percent.Pair(g.Limit+g.Excess, g.Limit)
		verb := "requested"
		if g.Basis == plan.BasisLoad {
			verb = "used"
		}
		return fmt.Sprintf("%s of the %s of %s is %s, above %s", share, g.Resource, g.Subject.Name, verb, limit)
	}
	if g.Kind == plan.CountAtMost {
		return fmt.Sprintf("%s has %v pods above %v on the values of %s", g.Subject.Name, g.Excess, g.Limit, g.TopologyKey)
	}
	return fmt.Sprintf("%s has a skew of %v over %s, above %v", g.Subject.Name, g.Limit+g.Excess, g.TopologyKey, g.Limit)
}

// newConsumed returns the permanent effects of the earlier moves.
func (c *pass) newConsumed() *eligibility.Consumed {
	out := eligibility.NewConsumed()
	for _, m := range c.Earlier {
		out.Add(c.Eligibility, m.Pod)
	}
	return out
}
