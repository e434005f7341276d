package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search/steering"
)

// PredictWithHints calls Predict. If the replacement would return or its landing is uncertain, PredictWithHints looks
// for node hints that make the landing acceptable.
func (c *Simulation) PredictWithHints(m Move) (Landing, plan.Reason, bool) {
	l, reason, ok := c.Predict(m)
	if ok || !c.Options.Steers() || !hintsMayHelp(reason.Code) {
		return l, reason, ok
	}
	steered, why := findHints([]*Simulation{c}, m, nil)
	if why != "" {
		reason.Message += "; not steered: " + why
		again, _, _ := c.Predict(m) // findHints overwrote the prediction
		l.predicted = again.predicted
		return l, reason, false
	}
	return steered, plan.Reason{}, true
}

// hintsMayHelp reports whether hints may change the result: the pod may leave, but its landing is not certain enough.
func hintsMayHelp(code plan.Code) bool {
	return code == plan.WouldReturn || code == plan.UncertainLanding
}

// hintRounds is the number of rounds in which findHints adds only nodes on which the replacement may land. Later
// rounds add all nodes on which the replacement fits but does not help.
const hintRounds = 2

// findHints looks for nodes to hint, in addition to base, so that the replacement has an acceptable landing in every
// state. findHints adds nodes that the scheduler could choose but where the replacement improves no goal. If no set
// of nodes suffices, findHints returns the reason. Before and after the call, the cluster models of the states carry
// the hints in base.
func findHints(states []*Simulation, m Move, base []cluster.NodeID) (Landing, string) {
	c := states[0]
	st := c.Steering
	if !c.Model.RespondsToHint(m.Pod, st.Kind) {
		return Landing{}, st.NoResponseReason()
	}
	defer SetHints(states, base)
	for round, hinted := 0, base; ; round++ {
		SetHints(states, hinted)
		l, more, reason := predictLandings(states, m, round >= hintRounds)
		switch {
		case reason.Code == "":
			l.Hinted, l.Steered = hinted, true
			return l, ""
		case !hintsMayHelp(reason.Code):
			return Landing{}, reason.Message
		}
		next := steering.Union(hinted, more)
		if len(next) == len(hinted) || round > hintRounds {
			return Landing{}, "a hint would not be enough"
		}
		if why := st.Forbids(next); why != "" {
			return Landing{}, why
		}
		hinted = next
	}
}

// predictLandings predicts the pod's landing in every state. predictLandings returns the landing in the last state
// that accepts it, the nodes to hint, and the reason against it, if any. A reason that no hint can remove takes
// precedence.
func predictLandings(states []*Simulation, m Move, all bool) (l Landing, more []cluster.NodeID, reason plan.Reason) {
	for i, c := range states {
		fresh, r, ok := c.Predict(m)
		if ok {
			if i > 0 {
				fresh = fresh.worst(l)
			}
			l = fresh
			continue
		}
		if reason.Code == "" || !hintsMayHelp(r.Code) {
			reason = r
		}
		more = steering.Union(more, c.unhelpfulNodes(m.Pod, all))
	}
	return l, more, reason
}

// unhelpfulNodes returns the nodes on which the replacement may land but improves no goal. If all is set, the result
// includes every node that may be hinted and on which the replacement fits but improves no goal.
func (c *Simulation) unhelpfulNodes(pod cluster.PodID, all bool) []cluster.NodeID {
	from := c.Model.Cluster.NodeOf(pod)
	pr := c.Model.Predict(pod)
	nodes := pr.Possible()
	if all {
		nodes = steering.Union(nodes, slices.DeleteFunc(slices.Clone(pr.Gone.Feasible),
			func(n cluster.NodeID) bool { return c.Steering.Refused[n] != "" }))
	}
	places := c.Goals.CheckTargets(pod, from)
	return slices.DeleteFunc(nodes, func(n cluster.NodeID) bool {
		return c.Steering.KeptEmpty[n] || !c.Goals.UnderPressure[n] && places.Acceptable(n)
	})
}

func SetHints(states []*Simulation, nodes []cluster.NodeID) {
	for _, c := range states {
		c.Model.SetHints(c.Steering.Kind, nodes)
	}
}

// SteerKind returns the value of a move's field steer.
func (c *Simulation) SteerKind(l Landing) string {
	if l.Steered {
		return string(c.Steering.Kind)
	}
	return string(hints.None)
}

func (c *Simulation) WaveHints(wave int, nodes []cluster.NodeID) plan.WaveHints {
	h := plan.WaveHints{Wave: wave, Kind: string(c.Steering.Kind)}
	for _, n := range nodes {
		h.Nodes = append(h.Nodes, c.Snapshot.Nodes[n].Name)
	}
	return h
}
