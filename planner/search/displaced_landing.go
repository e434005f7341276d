package search

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// PredictDisplacedLanding predicts where the replacement of a displaced pod lands. It accepts
// the landing if, with at least minConfidence, no goal becomes worse. Otherwise it returns
// the reason and false.
func (c *State) PredictDisplacedLanding(pod cluster.PodID) (Landing, plan.Reason, bool) {
	if b := c.unmeasured(pod); b != nil {
		return Landing{}, plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known", b.Measure.Resource)}, false
	}
	from := c.Model.NodeOf(pod)
	*c.predictions++
	pr := c.Model.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return Landing{}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places := c.checkDisplacedTargets(pod, from)
	good := func(n cluster.NodeID) bool { return c.harmless(&places, n) }
	l := Landing{Confidence: plan.Round(pr.Prob(good)), ReturnProbability: plan.Round(pr.ProbOf(from)), PendingProbability: plan.Round(pr.Pending()), predicted: pr}
	if l.Confidence < c.Options.MinConfidence {
		return l, plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
			"its replacement lands where it makes no goal worse with probability %.2f only (guards.minConfidence wants %.2f)", l.Confidence, c.Options.MinConfidence)}, false
	}
	l.To = pr.LikeliestOf(good)
	return l, plan.Reason{}, true
}

// checkDisplacedTargets returns the target check of a displaced pod. Its move serves no goal
// by load, but the pod that takes its place may serve one. The check therefore protects nodes
// without a goal from overload.
func (c *State) checkDisplacedTargets(pod cluster.PodID, from cluster.NodeID) goal.TargetCheck {
	places := c.Goals.CheckTargets(pod, from)
	places.OutsideGoals = c.Goals.RoomNeededOutsideGoals(pod)
	return places
}

// harmless reports whether the replacement of a displaced pod may land on n.
func (c *State) harmless(places *goal.TargetCheck, n cluster.NodeID) bool {
	if n == places.From || !c.Ready[n] || places.Harms(n) || !goal.HasRoom(places.OutsideGoals, n) {
		return false
	}
	for _, known := range c.Goals.KnownUsage {
		if known[n] == 0 { // usage of the node is unknown, so harm cannot be excluded
			return false
		}
	}
	return true
}

// unmeasured returns an amount that goals count and for which the pod's usage is unknown, or
// nil. Without its usage, the planner cannot exclude harm elsewhere.
func (c *State) unmeasured(pod cluster.PodID) *cluster.Amounts {
	for amounts := range c.Goals.KnownUsage { // the map order does not matter: the plan does not contain the amount
		if k := amounts.PodQuality(pod); k == cluster.Unknown || k == cluster.BoundAfterSample {
			return amounts
		}
	}
	return nil
}

// AcceptableDisplacedNodes lists the nodes on which the replacement harms no goal.
func (c *State) AcceptableDisplacedNodes(pod cluster.PodID, l *Landing) []cluster.NodeID {
	places := c.checkDisplacedTargets(pod, c.Model.NodeOf(pod))
	var out []cluster.NodeID
	for n := range l.predicted.Gone.FeasibleSet.All() {
		if c.harmless(&places, n) {
			out = append(out, n)
		}
	}
	return out
}
