package planner

import (
	"fmt"
	"strconv"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// landing is where a replacement is predicted to go.
type landing struct {
	to                       cluster.NodeID
	acceptable               []cluster.NodeID
	served                   []int // goals improved on `to`
	pGood, pReturn, pPending float64
	// hinted are nodes that must carry a hint for this to hold; in a wave those
	// of the wave.
	hinted []cluster.NodeID
	// steered: without hints it would not hold.
	steered bool
}

// land predicts where the replacement of a pod goes and accepts it only if,
// with enough confidence, requested goals are then served better and no goal
// worse.
func (c *search) land(pod cluster.PodID) (landing, plan.Reason, bool) {
	from := c.world.NodeOf(pod)
	pr := c.world.Predict(pod)
	if pr.SupportedWhy != "" {
		return landing{}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.SupportedWhy}, false
	}
	// A pod may tolerate a node that is not Ready, but does not run there.
	good := func(n cluster.NodeID) bool { return n != from && c.s.Nodes[n].Ready && c.goals.serves(pod, from, n) }
	l := landing{
		pGood:    plan.Round(pr.Prob(good)),
		pReturn:  plan.Round(pr.Prob(func(n cluster.NodeID) bool { return n == from })),
		pPending: plan.Round(pr.Pending()),
	}
	for _, n := range pr.Gone.Feasible {
		if good(n) {
			l.acceptable = append(l.acceptable, n)
		}
	}
	if len(l.acceptable) == 0 {
		return l, c.noTarget(pod, from, pr), false
	}
	if l.pGood < c.p.opts.MinConfidence {
		return l, c.tooUncertain(pod, from, pr, l), false
	}
	l.to = pr.LikeliestOf(good)
	l.served = c.goals.served(pod, from, l.to)
	return l, plan.Reason{}, true
}

// noTarget explains why no node is acceptable.
func (c *search) noTarget(pod cluster.PodID, from cluster.NodeID, pr placement.Prediction) plan.Reason {
	others := 0
	for _, n := range pr.Gone.Feasible {
		if n != from {
			others++
		}
	}
	if others == 0 {
		return plan.Reason{Code: plan.NoTargetFits, Message: "its replacement fits on no other node"}
	}
	return plan.Reason{Code: plan.NoTargetFits, Message: fmt.Sprintf(
		"its replacement fits on %s, but each would leave the goal unserved or make another worse", otherNodes(others))}
}

func otherNodes(n int) string {
	if n == 1 {
		return "1 other node"
	}
	return strconv.Itoa(n) + " other nodes"
}

// tooUncertain tells a replacement that goes back, or into the same over-full
// domain, from one whose place is merely not known well enough.
func (c *search) tooUncertain(pod cluster.PodID, from cluster.NodeID, pr placement.Prediction, l landing) plan.Reason {
	back := pr.Prob(func(n cluster.NodeID) bool { return n == from || len(c.goals.served(pod, from, n)) == 0 })
	need := c.p.opts.MinConfidence
	if back >= 1-l.pGood-back {
		return plan.Reason{Code: plan.WouldReturn, Message: fmt.Sprintf(
			"its replacement would go back to %s, or where it helps as little, with probability %.2f; at most %.2f is allowed (guards.minConfidence %.2f)",
			c.s.Nodes[from].Name, back, 1-need, need)}
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
		"its replacement lands where it helps with probability %.2f only (guards.minConfidence wants %.2f)", l.pGood, need)}
}
