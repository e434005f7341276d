package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// removeEndedPods adds a move for each unmet goal about a pod that has ended, in waves after all others. Such a pod uses no
// resources and no replacement follows it, so its removal has no landing and changes no other goal. It counts against the
// same limits as an eviction.
func (c *Search) removeEndedPods() {
	inWave, wave, most := 0, 0, max(1, c.Options.InFlight.Total)
	if n := len(c.Moves); n > 0 {
		wave = c.Moves[n-1].Wave
	}
	for _, g := range c.goalsAboutEndedPods() {
		pod := c.Goals.Goals[g].Pods[0]
		if c.Moved[pod] {
			continue
		}
		if reason, no := c.refuseRemoval(pod, c.StrategyOf(g)); no {
			c.reject(pod, g, reason)
			continue
		}
		if inWave%most == 0 {
			wave++
		}
		inWave++
		m := Step{Pod: pod, From: c.Snapshot.Pods[pod].Node, goal: g, MostImproved: g, Strategy: c.StrategyOf(g),
			Landing: Landing{To: cluster.NoNode, Confidence: 1}, Benefit: c.Goals.Goals[g].Weight}
		c.Goals.EachAffected(pod, cluster.NoNode, cluster.NoNode, func(i int) bool {
			if c.Goals.Asks(i, pod) && c.Goals.Goals[i].Removal != "" && c.Goals.Excess(i) > 0 {
				m.Landing.ImprovedGoals = append(m.Landing.ImprovedGoals, i)
			}
			return true
		})
		c.Apply(m)
		c.Moves = append(c.Moves, WaveStep{m, wave})
		c.Moved[pod] = true
		c.Limits.Add(pod, m.Strategy)
		c.Rejections.remove(pod)
	}
}

// goalsAboutEndedPods returns the unmet requested goals about pods that have ended: by weight, and then in the order of
// the strategies.
func (c *Search) goalsAboutEndedPods() (out []int) {
	for i := range c.Goals.Goals {
		if g := &c.Goals.Goals[i]; g.Removal != "" && !g.Constraint && c.Goals.Excess(i) > 0 {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(c.Goals.Goals[b].Weight, c.Goals.Goals[a].Weight) })
	return out
}

// refuseRemoval returns the reason why a pod that has ended may not be removed for the strategy.
func (c *Search) refuseRemoval(pod cluster.PodID, strategy int) (plan.Reason, bool) {
	if reason, refused := c.Eligibility.RefuseFor(strategy, pod); refused {
		return reason, true
	}
	if reason, refused := c.Limits.Refuse(pod); refused {
		return reason, true
	}
	return c.Limits.RefuseFor(strategy, pod)
}

// RecheckRemoval checks again whether a pod that has ended may be removed for the strategy, by the request that a goal of
// the strategy states. counted says that the limits already count the move.
func (c *Search) RecheckRemoval(pod cluster.PodID, strategy string, how plan.Removal, counted bool) (plan.Reason, bool) {
	g := slices.IndexFunc(c.Goals.Goals, func(g plan.Goal) bool {
		return g.Kind == plan.PodAway && g.Strategy == strategy && g.Pods[0] == pod && g.Removal == how
	})
	if how == "" || g < 0 || c.Goals.Excess(g) == 0 {
		return plan.Reason{Code: plan.NotNeeded, Message: "no goal of strategy " + strategy + " needs the removal of the pod"}, false
	}
	index := c.Options.StrategyIndex(strategy)
	if reason, refused := c.Eligibility.RefuseFor(index, pod); refused {
		return reason, false
	}
	if reason, refused := c.Limits.RefuseAgain(index, pod); refused && !counted {
		return reason, false
	}
	if !counted {
		c.Limits.Add(pod, index)
	}
	return plan.Reason{}, true
}
