package planner

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PredictHints returns the cluster as pressure hints would leave it, in a dry run that has
// rules for them: those that the rules want now are on its nodes, and those that they
// do not want are not. A run that evicts waits for them to be written, so that it and
// this plan on the same nodes. Otherwise it is s itself. What really stands on the
// nodes is kept in Snapshot.Written.
func (p *Planner) PredictHints(s *cluster.Snapshot) (*cluster.Snapshot, error) {
	if !p.opts.PredictHints {
		return s, nil
	}
	changed := p.opts.HintRules.Predict(s.Objects.Nodes, s.Objects.Usage, s.TakenAt)
	if len(changed) == 0 {
		return s, nil
	}
	objects := *s.Objects
	objects.Nodes = slices.Clone(objects.Nodes)
	written := map[string]*corev1.Node{}
	for i, n := range objects.Nodes {
		if out, is := changed[n.Name]; is {
			objects.Nodes[i], written[n.Name] = out, n
		}
	}
	out, err := cluster.New(&objects)
	if err != nil {
		return nil, err
	}
	out.ActualNodes = written
	return out, nil
}

// ActualNode is the node as it really stands.
func ActualNode(s *cluster.Snapshot, n *cluster.Node) *corev1.Node {
	if there, foretold := s.ActualNodes[n.Name]; foretold {
		return there
	}
	return n.Object
}

// PressureHints says how it is about the hints on the nodes.
func (c *State) PressureHints(p *Planner) []plan.PressureHint {
	nodes := make([]*corev1.Node, len(c.Snapshot.Nodes))
	for i := range c.Snapshot.Nodes {
		nodes[i] = ActualNode(c.Snapshot, &c.Snapshot.Nodes[i])
	}
	o := p.opts
	var out []plan.PressureHint
	for _, st := range o.HintRules.NodeHints(nodes, c.Snapshot.Objects.Usage, o.Pressure.LabelKey, o.Pressure.TaintKey, c.Snapshot.TakenAt) {
		_, foretold := c.Snapshot.ActualNodes[st.Node]
		out = append(out, pressureHint(st, foretold))
	}
	return out
}

// stateWords are those of a plan for each state.
var stateWords = map[pressure.State]plan.HintState{
	pressure.Present: plan.HintPresent, pressure.ToWrite: plan.HintToWrite, pressure.ToRemove: plan.HintToRemove, pressure.Expired: plan.HintExpired,
	pressure.NotOurs: plan.HintForeign, pressure.AwaitingSamples: plan.HintAwaitingSamples, pressure.LimitReached: plan.HintLimitReached,
}

func pressureHint(st pressure.NodeHint, foretold bool) plan.PressureHint {
	h := plan.PressureHint{
		Node: st.Node, State: stateWords[st.State], Rule: st.Rule, Value: st.Value, OtherRules: st.OtherRules,
		Since: st.Since.UTC(), Expires: st.Expires.UTC(), Samples: st.Samples, RequiredSamples: st.RequiredSamples,
	}
	if st.State == pressure.NotOurs {
		h.ForeignHint, h.RemoveCommand = st.Foreign.Description, st.Foreign.RemoveCommand()
	}
	switch h.State {
	case plan.HintToWrite, plan.HintToRemove, plan.HintExpired:
		h.Predicted = foretold
	}
	return h
}

// hintOf is the hint on a node, or the nearest to it; nil: there is none.
func (c *State) hintOf(p *Planner, node string) *plan.PressureHint {
	for _, h := range c.PressureHints(p) {
		if h.Node == node {
			return &h
		}
	}
	return nil
}

// usedFracs are what the node uses of its allocatable, where that is known.
func usedFracs(state plan.State, node string) map[string]float64 {
	i := slices.IndexFunc(state.Nodes, func(n plan.NodeState) bool { return n.Name == node })
	if i < 0 {
		return nil
	}
	return maps.Clone(state.Nodes[i].Used)
}
