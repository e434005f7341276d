package report_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestExplanationStartsWithNodeState checks that the explanation of a node starts with the state of
// the node, before its pods.
func TestExplanationStartsWithNodeState(t *testing.T) {
	for want, n := range map[string]plan.NodeStatus{
		"The node is in zone z1, in scope; it takes pods.": {Zone: "z1", InScope: true},
		"The node is in no zone, in scope; it is cordoned, not Ready.": {InScope: true,
			State: []string{"cordoned", "not Ready"}},
		"The node is in zone z1, not in scope (nodeSelector), so its pods stay; it takes pods.": {Zone: "z1"},
		"The node is in zone z\\x1b, in scope; it is being removed by the cluster autoscaler.": {Zone: "z\x1b", InScope: true,
			State: []string{"being removed by the cluster autoscaler"}},
		"The node uses 85% of its cpu, 20% of its memory.": {Zone: "z1", InScope: true,
			Used: map[string]float64{"memory": .2, "cpu": .85}},
		"Pressure hint (cpu; cpu at 0.85): would be written (a dry run writes no hints).": {Zone: "z1", InScope: true,
			Hint: &plan.PressureHint{Rule: "cpu", Value: .85, State: plan.HintToWrite, Predicted: true}},
		"Pressure hint: no hint: hotter nodes use up the limit (hints.maxHintedFrac).": {Zone: "z1", InScope: true,
			Hint: &plan.PressureHint{State: plan.HintLimitReached}},
	} {
		e := fullExplanation()
		e.Node = &n
		text := written(t, report.Explain, report.Table, e)
		at := 1
		if n.Used != nil || n.Hint != nil {
			at = 2
		}
		if lines := strings.Split(text, "\n"); lines[at] != want {
			t.Errorf("%+v: %q, want %q", n, lines[at], want)
		}
	}
}
