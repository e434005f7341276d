package search

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// Predict is PredictDisplacedLanding for a displaced pod, and PredictLanding for others.
func (c *State) Predict(pod cluster.PodID, displaced bool) (Landing, plan.Reason, bool) {
	if displaced {
		return c.PredictDisplacedLanding(pod)
	}
	return c.PredictLanding(pod)
}

// PredictLanding predicts where the replacement of a pod lands. PredictLanding accepts the landing if it improves a
// requested goal and makes no goal worse, with at least minConfidence. Otherwise PredictLanding returns the reason
// and false.
func (c *State) PredictLanding(pod cluster.PodID) (Landing, plan.Reason, bool) {
	if c.Snapshot.Pods[pod].Terminal { // no replacement follows
		return Landing{To: cluster.NoNode, Confidence: 1, predicted: &prediction.Prediction{},
			ImprovedGoals: c.Goals.ImprovedGoals(pod, c.NodeOf(pod), cluster.NoNode)}, plan.Reason{}, true
	}
	from := c.Model.NodeOf(pod)
	countPrediction(c)
	pr := c.Model.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return Landing{predicted: &pr}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places, may := c.Goals.CheckTargets(pod, from), c.MayTake(pod)
	good := func(n cluster.NodeID) bool { return may[n] && places.Acceptable(n) }
	l := Landing{
		Confidence:         plan.Round(pr.Prob(good)),
		ReturnProbability:  plan.Round(pr.ProbOf(from)),
		PendingProbability: plan.Round(pr.Pending()),
		predicted:          &pr,
	}
	if least, _ := c.neededConfidence(pod); l.Confidence < least {
		if !containsNode(pr.Gone.FeasibleSet, good) {
			if why, refused := c.refusedTargetsReason(pod, &places, &pr); refused {
				return l, why, false
			}
			return l, noTargetReason(from, pr), false
		}
		return l, c.uncertainReason(pod, pr, &places, l), false
	}
	l.To = pr.LikeliestOf(good)
	l.ImprovedGoals = c.Goals.ImprovedGoals(pod, from, l.To)
	return l, plan.Reason{}, true
}

// countPrediction counts a predicted landing.
func countPrediction(c *State) {
	*c.predictions++
	c.Snapshot.Work.Spend(1 + len(c.Snapshot.Nodes)/16)
}

// AcceptableNodes returns the nodes that are acceptable for a landing. For a displaced pod, these are the nodes on
// which its replacement harms no goal.
func (c *State) AcceptableNodes(pod cluster.PodID, l *Landing, displaced bool) prediction.NodeSet {
	return l.predicted.Gone.FeasibleSet.Filter(c.acceptsLanding(pod, displaced))
}

// acceptsLanding returns a function that reports whether a node is acceptable for a landing. The
// function is valid until the goals change.
func (c *State) acceptsLanding(pod cluster.PodID, displaced bool) func(cluster.NodeID) bool {
	from := c.Model.NodeOf(pod)
	if displaced {
		places := c.checkDisplacedTargets(pod, from)
		return func(n cluster.NodeID) bool { return c.displacedMayLandOn(&places, n) }
	}
	return c.Accepts(pod, from)
}

// Accepts returns a function that reports whether the replacement of a pod that leaves from may land on a node: the pod
// may be sent there, and the landing is acceptable to the goals. Its own node is acceptable only to goals that the
// replacement may meet there. The function is valid until the goals change.
func (c *State) Accepts(pod cluster.PodID, from cluster.NodeID) func(cluster.NodeID) bool {
	places, may := c.Goals.CheckTargets(pod, from), c.MayTake(pod)
	return func(n cluster.NodeID) bool { return may[n] && places.Acceptable(n) }
}

func containsNode(nodes prediction.NodeSet, good func(cluster.NodeID) bool) bool {
	for n := range nodes.All() {
		if good(n) {
			return true
		}
	}
	return false
}

// noTargetReason returns the reason if no node is acceptable.
func noTargetReason(from cluster.NodeID, pr prediction.Prediction) plan.Reason {
	others := pr.Gone.FeasibleSet.Len()
	if pr.Gone.FeasibleSet.Has(from) {
		others--
	}
	if others == 0 {
		return plan.Reason{Code: plan.NoTargetFits, Message: "its replacement fits on no other node"}
	}
	return plan.Reason{Code: plan.NoTargetFits, Message: fmt.Sprintf(
		"its replacement fits on %s, but each would leave the goal unserved or make another worse", plural.Count(others, "other node"))}
}

// uncertainReason returns the reason for a landing below minConfidence. The reason says whether the replacement would
// return, would improve no goal, or has an uncertain landing.
func (c *State) uncertainReason(pod cluster.PodID, pr prediction.Prediction, places *goal.TargetCheck, l Landing) plan.Reason {
	from := places.From
	need, prefix := c.neededConfidence(pod)
	back := pr.Prob(func(n cluster.NodeID) bool { return !places.Helps(n) })
	if back >= 1-l.Confidence-back {
		share, most := percent.Pair(back, 1-need)
		return plan.Reason{Code: plan.WouldReturn, Message: prefix + fmt.Sprintf(
			"its replacement would go back to %s, or where it helps as little, with probability %s; at most %s is allowed (guards.minConfidence wants %s)",
			c.Snapshot.Nodes[from].Name, share, most, percent.Of(need))}
	}
	good, least := percent.Pair(l.Confidence, need)
	return plan.Reason{Code: plan.UncertainLanding, Message: prefix + fmt.Sprintf(
		"its replacement lands where it helps with probability %s only (guards.minConfidence wants %s)", good, least)}
}

// refusedTargetsReason reports whether the replacement would help only on nodes to which it is not sent, and returns
// the reason. The scheduler may still place it there.
func (c *State) refusedTargetsReason(pod cluster.PodID, places *goal.TargetCheck, pr *prediction.Prediction) (plan.Reason, bool) {
	p, first, count := &c.Snapshot.Pods[pod], len(target.Rules), 0
	var named []string
	for id := range pr.Gone.FeasibleSet.All() {
		if id == places.From || !places.Acceptable(id) {
			continue
		}
		n := &c.Snapshot.Nodes[id]
		if rule, words, refused := c.Targets.Why(p, n); refused {
			first = min(first, rule)
			if count++; count <= maxNamedTargets {
				named = append(named, n.Name+" is "+words)
			}
		}
	}
	if count == 0 {
		return plan.Reason{}, false
	}
	if count > maxNamedTargets {
		named = append(named, fmt.Sprintf("and %d more", count-maxNamedTargets))
	}
	return plan.Reason{Code: target.Rules[first].Code, Message: fmt.Sprintf("its replacement would help only on %s, to which it is not sent: %s",
		plural.Count(count, "other node"), strings.Join(named, ", "))}, true
}

// maxNamedTargets is the number of nodes that a message names.
const maxNamedTargets = 3

// PredictDisplacedLanding predicts where the replacement of a displaced pod lands. PredictDisplacedLanding accepts
// the landing if no goal becomes worse, with at least minConfidence. Otherwise PredictDisplacedLanding returns the
// reason and false.
func (c *State) PredictDisplacedLanding(pod cluster.PodID) (Landing, plan.Reason, bool) {
	if b := c.amountWithUnknownUsage(pod); b != nil {
		return Landing{predicted: &prediction.Prediction{}}, plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known",
			b.Measure.Resource)}, false
	}
	from := c.Model.NodeOf(pod)
	countPrediction(c)
	pr := c.Model.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return Landing{predicted: &pr}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places := c.checkDisplacedTargets(pod, from)
	good := func(n cluster.NodeID) bool { return c.displacedMayLandOn(&places, n) }
	l := Landing{Confidence: plan.Round(pr.Prob(good)), ReturnProbability: plan.Round(pr.ProbOf(from)),
		PendingProbability: plan.Round(pr.Pending()), predicted: &pr}
	if need, prefix := c.neededConfidence(pod); l.Confidence < need {
		good, least := percent.Pair(l.Confidence, need)
		return l, plan.Reason{Code: plan.UncertainLanding, Message: prefix + fmt.Sprintf(
			"its replacement lands where it makes no goal worse with probability %s only (guards.minConfidence wants %s)",
			good, least)}, false
	}
	l.To = pr.LikeliestOf(good)
	return l, plan.Reason{}, true
}

// checkDisplacedTargets returns the target check of a displaced pod. The second move of the step may improve a goal
// by load. The check therefore protects nodes without a goal from overload.
func (c *State) checkDisplacedTargets(pod cluster.PodID, from cluster.NodeID) displacedTargets {
	return displacedTargets{c.Goals.CheckTargets(pod, from), c.Goals.RoomNeededOutsideGoals(pod, c.strategyName(pod)), c.MayTake(pod)}
}

// displacedTargets is the target check of a displaced pod, with the room that it needs on nodes without a goal, and the
// nodes to which it may be sent.
type displacedTargets struct {
	goal.TargetCheck
	outside []goal.RoomNeed
	may     []bool // by node; see MayTake
}

func (c *State) displacedMayLandOn(places *displacedTargets, n cluster.NodeID) bool {
	if n == places.From || !places.may[n] || places.Harms(n) || !goal.HasRoom(places.outside, n) {
		return false
	}
	for _, known := range c.Goals.KnownUsage {
		if known[n] == 0 { // usage of the node is unknown, so harm cannot be excluded
			return false
		}
	}
	return true
}

// amountWithUnknownUsage returns an amount of the goals for which the pod's usage is unknown, or nil. If the usage of
// a pod is unknown, the planner cannot exclude that the pod overloads another node.
func (c *State) amountWithUnknownUsage(pod cluster.PodID) *cluster.Amounts {
	for amounts := range c.Goals.KnownUsage { // the map order does not matter: the plan does not contain the amount
		if k := amounts.PodQuality(pod); k == cluster.Unknown || k == cluster.BoundAfterSample {
			return amounts
		}
	}
	return nil
}
