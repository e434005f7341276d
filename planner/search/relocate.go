package search

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// relocation is the kind of a move to a place where a goal gains and none loses.
type relocation struct{}

// whyLater returns why a move with a predicted place must wait for a later wave, or "".
func (relocation) whyLater(w *Wave, m Move, hasRoom bool) string {
	switch {
	case !hasRoom:
		return fewerMayBeAway
	case !w.independent(m.Pod):
		return "its landing depends on the order in which the pods of the wave are replaced"
	}
	return ""
}

// land predicts the landing with the hints of the wave, and may add hints. The result is Later if the landing is not
// acceptable at the beginning of the wave, or if hints may help in the next wave.
func (relocation) land(w *Wave, m Move) (Landing, plan.Reason, Verdict) {
	if why, known := w.unlandable.of(w.Now, m.Pod); known {
		*w.Now.predictions++ // counts as a prediction, so that the cache does not change the plan
		return Landing{}, why, Refused
	}
	l, reason, ok := w.predict(w.Now, m)
	own := !ok
	if ok && len(w.steps) > 0 {
		if l, reason, ok = w.predictInWave(m, l); !ok && (!w.mayHint || !hintsMayHelp(reason.Code)) {
			return l, reason, Later
		}
	}
	if ok {
		l.Hinted = w.hinted
		if l.Steered = len(w.hinted) > 0 && w.needsHints(m); len(w.hinted) > 0 {
			states := w.differentStates()
			again, _, _ := states[len(states)-1].Predict(m) // needsHints overwrote the prediction
			l.predicted = again.predicted
		}
		return l, plan.Reason{}, Admitted
	}
	if !w.mayHint || !hintsMayHelp(reason.Code) {
		if own {
			w.unlandable.add(w.Now, m.Pod, reason)
		}
		return l, reason, Refused
	}
	l, why := findHints(w.differentStates(), m, w.hinted)
	switch {
	case why == "":
		return l, plan.Reason{}, Admitted
	case len(w.steps) > 0 && !(own && len(w.hinted) == 0 && w.hintsCannotHelp(m)):
		return l, reason, Later
	}
	reason.Message += "; not steered: " + why
	return l, reason, Refused
}

// hintsCannotHelp reports whether hints would not help the pod in the next wave, which begins with the current state.
func (w *Wave) hintsCannotHelp(m Move) bool {
	_, why := findHints([]*Simulation{w.Now}, m, nil)
	return why != ""
}

func (relocation) describe(*Step, *cluster.Snapshot, *plan.Goal, *plan.Move) {}

func (relocation) recognizes(*plan.Move, *cluster.Pod) bool { return true }

// predict accepts the landing if, with at least minConfidence, it improves a requested goal and makes no goal worse.
func (relocation) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	pod, from := m.Pod, c.Model.Cluster.NodeOf(m.Pod)
	countPrediction(c)
	pr := c.Model.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return Landing{predicted: &pr}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	places, may := c.Goals.CheckTargets(pod, from), c.MayTake(pod)
	good := func(n cluster.NodeID) bool { return may[n] && places.Acceptable(n) }
	if places.AcceptsAll(pr.Terminating.Winners, may) && places.AcceptsAll(pr.Gone.Winners, may) {
		good = nil // the common case: all nodes that may win are acceptable
	}
	l := Landing{
		Confidence:         plan.Round(pr.Prob(good)),
		ReturnProbability:  plan.Round(pr.ProbOf(from)),
		PendingProbability: plan.Round(pr.Pending()),
		predicted:          &pr,
	}
	if l.Confidence < c.Options.MinConfidence {
		if !containsNode(pr.Gone.FeasibleSet, good) {
			if why, refused := c.refusedTargetsReason(pod, &places, &pr); refused {
				return l, why, false
			}
			return l, noTargetReason(from, pr), false
		}
		return l, c.uncertainReason(m, pr, &places, l), false
	}
	l.To = pr.LikeliestOf(good)
	l.ImprovedGoals = c.Goals.ImprovedGoals(pod, from, l.To)
	return l, plan.Reason{}, true
}

// certain reports whether bounds prove that the landing of a Relocate is acceptable with certainty, on another
// node. The pod leaves from, and may be on its new node in the model already. The result false says nothing.
func (c *Simulation) certain(m Move, from cluster.NodeID) bool {
	nodes, known := possibleWinners(c.Model, m, from)
	return known && c.acceptsAll(m, from, &nodes)
}

// possibleWinners returns nodes that contain the landing of a Relocate, as bounds prove. known is false if they include
// from.
func possibleWinners(model *placement.ClusterModel, m Move, from cluster.NodeID) (nodes prediction.NodeSet, known bool) {
	if m.Kind != Relocate {
		return nodes, false
	}
	nodes, known = model.PossibleWinners(m.Pod, from)
	return nodes, known && !nodes.Has(from)
}

// acceptsAll reports whether all the nodes are acceptable for the replacement of a pod that leaves from.
func (c *Simulation) acceptsAll(m Move, from cluster.NodeID, nodes *prediction.NodeSet) bool {
	places := c.Goals.CheckTargets(m.Pod, from)
	return places.Count(nodes, c.MayTake(m.Pod)) == nodes.Count
}

// countPrediction counts a predicted landing.
func countPrediction(c *Simulation) {
	*c.predictions++
	c.Snapshot.Work.Spend(1 + len(c.Snapshot.Nodes)/16)
}

func (relocation) accepts(c *Simulation, m Move) func(cluster.NodeID) bool {
	return c.GoalsAccept(m.Pod, c.Model.Cluster.NodeOf(m.Pod))
}

// GoalsAccept returns a function that reports whether the replacement of a pod that leaves from may land on a node:
// the pod may be sent there, and the landing is acceptable to the goals. Its own node is acceptable only to goals
// that the replacement may meet there. The function is valid until the goals change.
func (c *Simulation) GoalsAccept(pod cluster.PodID, from cluster.NodeID) func(cluster.NodeID) bool {
	places, may := c.Goals.CheckTargets(pod, from), c.MayTake(pod)
	return func(n cluster.NodeID) bool { return may[n] && places.Acceptable(n) }
}

func containsNode(nodes prediction.NodeSet, good func(cluster.NodeID) bool) bool {
	for n := range nodes.All() {
		if good == nil || good(n) {
			return true
		}
	}
	return false
}

// noTargetReason returns the reason if no node is acceptable.
func noTargetReason(from cluster.NodeID, pr prediction.Prediction) plan.Reason {
	others := pr.Gone.FeasibleSet.Count
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
func (c *Simulation) uncertainReason(m Move, pr prediction.Prediction, places *goal.TargetCheck, l Landing) plan.Reason {
	from := places.From
	need := c.Options.MinConfidence
	back := pr.Prob(func(n cluster.NodeID) bool { return !places.Helps(n) })
	if back >= 1-l.Confidence-back {
		share, most := percent.Pair(back, 1-need)
		return plan.Reason{Code: plan.WouldReturn, Message: fmt.Sprintf(
			"the replacement would return to %s, or land where it helps as little, with a probability of %s; at most %s is allowed (guards.minConfidence is %s)",
			c.Snapshot.Nodes[from].Name, share, most, percent.Of(need))}
	}
	good, least := percent.Pair(l.Confidence, need)
	return plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
		"the replacement would land where it helps with a probability of only %s (guards.minConfidence is %s)", good, least)}
}

// refusedTargetsReason reports whether the replacement would help only on nodes to which it is not sent, and returns
// the reason. The scheduler may still place it there.
func (c *Simulation) refusedTargetsReason(pod cluster.PodID, places *goal.TargetCheck, pr *prediction.Prediction) (plan.Reason, bool) {
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
	return plan.Reason{Code: target.Rules[first].Code, Message: fmt.Sprintf("the replacement would help only on %s, which Evenkeel does not target: %s",
		plural.Count(count, "other node"), strings.Join(named, ", "))}, true
}

// maxNamedTargets is the number of nodes that a message names.
const maxNamedTargets = 3
