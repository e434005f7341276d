package summary

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// ActualNode returns the node as it really is, without predicted hints.
func ActualNode(s *cluster.Snapshot, n *cluster.Node) *corev1.Node {
	if there, predicted := s.ActualNodes[n.Name]; predicted {
		return there
	}
	return n.Object
}

// PressureHints returns the states of the pressure hints on the nodes.
func PressureHints(c *search.Result) []plan.PressureHint {
	nodes := make([]*corev1.Node, len(c.Snapshot.Nodes))
	for i := range c.Snapshot.Nodes {
		nodes[i] = ActualNode(c.Snapshot, &c.Snapshot.Nodes[i])
	}
	o := c.Options
	var out []plan.PressureHint
	for _, st := range o.HintRules.NodeHints(nodes, c.Snapshot.Objects.Usage, o.Pressure.LabelKey, o.Pressure.TaintKey, c.Snapshot.TakenAt) {
		_, predicted := c.Snapshot.ActualNodes[st.Node]
		out = append(out, pressureHint(st, predicted))
	}
	return out
}

// stateWords maps each hint state to its word in a plan.
var stateWords = map[pressure.HintState]plan.HintState{
	pressure.Present: plan.HintPresent, pressure.ToWrite: plan.HintToWrite, pressure.ToRemove: plan.HintToRemove, pressure.Expired: plan.HintExpired,
	pressure.Missing: plan.HintMissing, pressure.Invalid: plan.HintInvalidRecord, pressure.NotOurs: plan.HintForeign, pressure.AwaitingSamples: plan.HintAwaitingSamples, pressure.LimitReached: plan.HintLimitReached,
}

func pressureHint(st pressure.NodeHint, predicted bool) plan.PressureHint {
	h := plan.PressureHint{
		Node: st.Node, State: stateWords[st.State], Rule: st.Rule, Value: st.Value, OtherRules: st.OtherRules,
		Since: st.Since.UTC(), Expires: st.Expires.UTC(), Samples: st.Samples, RequiredSamples: st.RequiredSamples,
	}
	if st.State == pressure.NotOurs {
		h.ForeignHint, h.RemoveCommand = st.Foreign.Description, st.Foreign.RemoveCommand()
	}
	if st.State == pressure.Invalid {
		h.Problem = st.Problem
	}
	switch h.State {
	case plan.HintToWrite, plan.HintToRemove, plan.HintExpired:
		h.Predicted = predicted
	}
	return h
}

// HintOf returns the hint entry of a node, or nil if it has none.
func HintOf(c *search.Result, node string) *plan.PressureHint {
	for _, h := range PressureHints(c) {
		if h.Node == node {
			return &h
		}
	}
	return nil
}

// expiredHints describes the nodes that carry an expired pressure hint. The hint reconciler removes expired hints
// within seconds, so no reconciler manages the described nodes.
func expiredHints(s *cluster.Snapshot, owned pressure.Owned, now time.Time) string {
	var nodes []string
	for i := range s.Nodes {
		n := ActualNode(s, &s.Nodes[i])
		if h, ours := owned.FromNode(n); ours && h.Expired(now) && h.OnNode(n).Description() != "" {
			nodes = append(nodes, s.Nodes[i].Name)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s a pressure hint that has expired; goals ignore it, pods may still avoid them (%s): run `evenkeel hints gc`",
		plural.Count(len(nodes), "node"), plural.Choose(len(nodes), "carries", "carry"), JoinNames(nodes))
}

// leftoverHints describes the nodes with a steering hint that a finished run left behind. The result does not depend
// on whether this plan steers.
func leftoverHints(s *cluster.Snapshot, now time.Time) string {
	var nodes []string
	for i := range s.Nodes {
		if h, ours := hints.FromNode(s.Nodes[i].Object); ours && h.Expired(now) {
			nodes = append(nodes, h.Node)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("%s still hinted by a run that has ended, and pods avoid them (%s): run `evenkeel hints gc`",
		plural.Count(len(nodes), "node"), JoinNames(nodes))
}

// JoinNames joins at most maxProblems names.
func JoinNames(nodes []string) string {
	names := strings.Join(nodes[:min(len(nodes), maxProblems)], ", ")
	if more := len(nodes) - maxProblems; more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	return names
}

// maxProblems is the largest number of problems listed for one input.
const maxProblems = 20
