package search

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// PredictDisplacedLanding predicts where the replacement of a pod goes that makes room for another,
// and accepts it only if, with enough confidence, no goal is then worse.
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

// checkDisplacedTargets are the places of a pod that makes room. It serves no goal by load itself, but
// whoever it makes room for may: a node that no goal is about is not to be overloaded
// for that one either.
func (c *State) checkDisplacedTargets(pod cluster.PodID, from cluster.NodeID) goal.TargetCheck {
	places := c.Goals.CheckTargets(pod, from)
	places.OutsideGoals = c.Goals.RoomNeededOutsideGoals(pod)
	return places
}

// harmless reports whether the replacement of a pod that makes room may stand on n.
func (c *State) harmless(places *goal.TargetCheck, n cluster.NodeID) bool {
	if n == places.From || !c.Ready[n] || places.Harms(n) || !goal.HasRoom(places.OutsideGoals, n) {
		return false
	}
	for _, known := range c.Goals.KnownUsage {
		if known[n] == 0 { // nobody can say that it does no harm there
			return false
		}
	}
	return true
}

// unmeasured are amounts that goals count and of which nobody knows what the pod has:
// that it does no harm elsewhere cannot be said of it.
func (c *State) unmeasured(pod cluster.PodID) *cluster.Amounts {
	for amounts := range c.Goals.KnownUsage { // which one is named does not reach the plan
		if k := amounts.PodQuality(pod); k == cluster.Unknown || k == cluster.BoundAfterSample {
			return amounts
		}
	}
	return nil
}

// AcceptableDisplacedNodes lists the nodes on which the replacement does no harm.
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
