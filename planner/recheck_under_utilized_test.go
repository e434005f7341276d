package planner_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestRecheckAfterUnderUtilizedNodesFillUp: the first of two moves fills the only under-utilized
// node up to its level. The second move of the plan is still valid, but the next plan has no move.
func TestRecheckAfterUnderUtilizedNodesFillUp(t *testing.T) {
	example := scenario.Read(t, "under-utilized-enough")
	s, st, conf := openScenario(t, example)
	p := planner.New(conf.PlannerOptions())
	made := p.Plan(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[0].To != "n3" || made.Moves[1].Wave != 2 {
		t.Fatalf("want a move to n3 and another in wave 2: %+v", made.Moves)
	}
	filled := must.Get(cluster.New(example.Objects(t, "{kind: Pod, metadata: {name: "+made.Moves[0].Pod.Name+"}, spec: {nodeName: n3}}")))(t)
	goals := controller.Goals(filled, conf.BuildStrategies(), nil)
	if ok, dropped := p.Recheck(filled, st, goals, made, 2, s.TakenAt); len(ok) != 1 || ok[0].Strategy != "hot" {
		t.Errorf("the second move is dropped: %+v", dropped)
	}
	if next := p.Plan(filled, st, goals, s.TakenAt); len(next.Moves) > 0 || next.Strategies[0].WaitingNodes != 1 {
		t.Errorf("the next plan has %d moves, and %d nodes wait", len(next.Moves), next.Strategies[0].WaitingNodes)
	}
}
