package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

func helpsAnywhere(l plan.Landing) bool {
	return slices.ContainsFunc(l.Nodes, func(n plan.TargetNode) bool { return n.Acceptable })
}

// TestExplainShowsModes checks the modes of goals in explanations, and the moves of proposals.
func TestExplainShowsModes(t *testing.T) {
	s, st, conf := openScenario(t, scenario.Read(t, "mode-limit-shared"))
	e := planner.New(conf.PlannerOptions()).Explain(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	pod := func(name string) plan.PodExplanation { return e.Pod(s.PodByKey("shop/" + name).ID).Pods[0] }
	first := pod("web-6c8f-00")
	if first.Move == nil || first.Move.Strategy != "hot" || len(first.Proposed) > 0 {
		t.Errorf("a pod that hot moves: %+v, proposed %+v", first.Move, first.Proposed)
	}
	modes, excess := map[string]plan.StrategyMode{}, map[string]float64{}
	for _, g := range first.Goals {
		modes[g.Goal.Strategy], excess[g.Goal.Strategy] = g.Mode, g.ExcessAfter
	}
	if d := cmp.Diff(map[string]plan.StrategyMode{"hot": "", "zones": plan.Approve, "cool": plan.ShowOnly}, modes); d != "" {
		t.Errorf("modes of the goals (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]float64{"hot": 0, "zones": 4, "cool": 0.2}, excess); d != "" {
		t.Errorf("excess after the automatic moves (-want +got):\n%s", d)
	}
	next := pod("web-6c8f-03")
	if next.Move != nil || next.Verdict.Code != plan.NotNeeded || len(next.Proposed) != 2 || next.Proposed[0].Mode != plan.Approve ||
		next.Proposed[1].Mode != plan.ShowOnly || next.Proposed[0].Move.To != "n3" || next.Proposed[0].Move.Step != 1 {
		t.Errorf("a pod that two proposals move: move %+v, verdict %+v, proposed %+v", next.Move, next.Verdict, next.Proposed)
	}
	if next.JudgedFor != plan.Approve || next.Landing.Verdict.Code != "" || !helpsAnywhere(next.Landing) ||
		!strings.Contains(next.Limits[0].Message, "; the automatic moves use 3, those of mode approve 1") {
		t.Errorf("a pod that a proposal moves: judged for %q, landing %+v, limits %+v", next.JudgedFor, next.Landing, next.Limits)
	}
	if first.JudgedFor != "" {
		t.Errorf("a pod that hot moves is judged for %q", first.JudgedFor)
	}
	if last := pod("web-6c8f-04"); last.Verdict.Code != plan.LimitPerPass || len(last.Proposed) > 0 {
		t.Errorf("a pod that no proposal has room for: %+v, proposed %+v", last.Verdict, last.Proposed)
	}
}
