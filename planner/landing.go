package planner

import (
	"fmt"
	"strconv"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// landing is where a replacement is predicted to go.
type landing struct {
	to                       cluster.NodeID
	acceptable               int   // nodes
	served                   []int // goals improved on `to`
	pGood, pReturn, pPending float64
	// hinted are nodes that must carry a hint for this to hold; in a wave those
	// of the wave.
	hinted []cluster.NodeID
	// steered: without hints it would not hold.
	steered bool
	// predicted is what it was read from; forgotten once the move is accepted.
	predicted prediction.Prediction
}

// land predicts where the replacement of a pod goes and accepts it only if,
// with enough confidence, requested goals are then served better and no goal
// worse.
func (c *scene) land(pod cluster.PodID) (landing, plan.Reason, bool) {
	from := c.world.NodeOf(pod)
	*c.predictions++
	pr := c.foretell(pod)
	if pr.UnsupportedReason != "" {
		return landing{}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places := c.goals.arrivals(pod, from)
	good := func(n cluster.NodeID) bool { return c.accepts(&places, n) }
	l := landing{
		pGood:     plan.Round(pr.Prob(good)),
		pReturn:   plan.Round(pr.ProbOf(from)),
		pPending:  plan.Round(pr.Pending()),
		predicted: pr,
	}
	if l.pGood < c.opts.MinConfidence {
		if !anyOf(pr.Gone.FeasibleSet, good) {
			if why, pressed := c.onlyPressed(&places, pr); pressed {
				return l, why, false
			}
			return l, noTarget(from, pr), false
		}
		return l, c.tooUncertain(from, pr, &places, l), false
	}
	l.to = pr.LikeliestOf(good)
	l.served = c.goals.served(pod, from, l.to)
	return l, plan.Reason{}, true
}

// accepts reports whether a replacement may stand on n. A pod may tolerate a node
// that is not Ready, but does not run there; one under pressure has enough.
func (c *scene) accepts(places *arrivals, n cluster.NodeID) bool {
	return n != places.from && c.ready[n] && places.serve(n)
}

// acceptable lists the nodes that a landing may end on.
func (c *scene) acceptable(pod cluster.PodID, l *landing) []cluster.NodeID {
	places := c.goals.arrivals(pod, c.world.NodeOf(pod))
	var out []cluster.NodeID
	for n := range l.predicted.Gone.FeasibleSet.All() {
		if c.accepts(&places, n) {
			out = append(out, n)
		}
	}
	return out
}

// countAcceptable is how many nodes a landing may end on.
func (c *search) countAcceptable(pod cluster.PodID, l *landing) int {
	places := c.goals.arrivals(pod, c.world.NodeOf(pod))
	c.spots = l.predicted.Gone.FeasibleSet.Append(c.spots[:0])
	return places.count(c.spots, c.ready)
}

func anyOf(nodes prediction.NodeSet, good func(cluster.NodeID) bool) bool {
	for n := range nodes.All() {
		if good(n) {
			return true
		}
	}
	return false
}

// noTarget explains why no node is acceptable.
func noTarget(from cluster.NodeID, pr prediction.Prediction) plan.Reason {
	others := pr.Gone.FeasibleSet.Len()
	if pr.Gone.FeasibleSet.Has(from) {
		others--
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
func (c *scene) tooUncertain(from cluster.NodeID, pr prediction.Prediction, places *arrivals, l landing) plan.Reason {
	back := pr.Prob(func(n cluster.NodeID) bool { return n == from || !places.helps(n) })
	need := c.opts.MinConfidence
	if back >= 1-l.pGood-back {
		return plan.Reason{Code: plan.WouldReturn, Message: fmt.Sprintf(
			"its replacement would go back to %s, or where it helps as little, with probability %.2f; at most %.2f is allowed (guards.minConfidence %.2f)",
			c.s.Nodes[from].Name, back, 1-need, need)}
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
		"its replacement lands where it helps with probability %.2f only (guards.minConfidence wants %.2f)", l.pGood, need)}
}
