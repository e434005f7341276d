package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// landAside predicts where the replacement of a pod goes that makes room for another,
// and accepts it only if, with enough confidence, no goal is then worse.
func (c *scene) landAside(pod cluster.PodID) (landing, plan.Reason, bool) {
	if b := c.unmeasured(pod); b != nil {
		return landing{}, plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known", b.Measure.Resource)}, false
	}
	from := c.world.NodeOf(pod)
	*c.predictions++
	pr := c.world.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return landing{}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places := c.asides(pod, from)
	good := func(n cluster.NodeID) bool { return c.harmless(&places, n) }
	l := landing{pGood: plan.Round(pr.Prob(good)), pReturn: plan.Round(pr.ProbOf(from)), pPending: plan.Round(pr.Pending()), predicted: pr}
	if l.pGood < c.opts.MinConfidence {
		return l, plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
			"its replacement lands where it makes no goal worse with probability %.2f only (guards.minConfidence wants %.2f)", l.pGood, c.opts.MinConfidence)}, false
	}
	l.to = pr.LikeliestOf(good)
	return l, plan.Reason{}, true
}

// asides are the places of a pod that makes room. It serves no goal by load itself, but
// whoever it makes room for may: a node that no goal is about is not to be overloaded
// for that one either.
func (c *scene) asides(pod cluster.PodID, from cluster.NodeID) arrivals {
	places := c.goals.arrivals(pod, from)
	places.spare = c.goals.spare(pod)
	return places
}

// harmless reports whether the replacement of a pod that makes room may stand on n.
func (c *scene) harmless(places *arrivals, n cluster.NodeID) bool {
	if n == places.from || !c.ready[n] || places.harms(n) || !has(places.spare, n) {
		return false
	}
	for _, known := range c.goals.known {
		if known[n] == 0 { // nobody can say that it does no harm there
			return false
		}
	}
	return true
}

// unmeasured are amounts that goals count and of which nobody knows what the pod has:
// that it does no harm elsewhere cannot be said of it.
func (c *scene) unmeasured(pod cluster.PodID) *cluster.Amounts {
	for amounts := range c.goals.known { // which one is named does not reach the plan
		if k := amounts.PodQuality(pod); k == cluster.Unknown || k == cluster.BoundAfterSample {
			return amounts
		}
	}
	return nil
}

// acceptableAside lists the nodes on which the replacement does no harm.
func (c *scene) acceptableAside(pod cluster.PodID, l *landing) []cluster.NodeID {
	places := c.asides(pod, c.world.NodeOf(pod))
	var out []cluster.NodeID
	for n := range l.predicted.Gone.FeasibleSet.All() {
		if c.harmless(&places, n) {
			out = append(out, n)
		}
	}
	return out
}
