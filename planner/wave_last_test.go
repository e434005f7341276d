package planner_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestRecheckKeepsAWaveCertain: Recheck drops the move whose pod leaves the best node for another replacement. Of the
// scenario's two waves, the test makes one.
func TestRecheckKeepsAWaveCertain(t *testing.T) {
	sc := scenario.Read(t, "wave-leaves-a-better-node")
	conf, err := config.Load("config.yaml", sc.Config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(sc.Objects(t))
	if err != nil {
		t.Fatal(err)
	}
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[1].Wave != 2 {
		t.Fatalf("want two waves: %+v", made.Moves)
	}
	made.Moves[1].Wave = 1
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) != 1 || ok[0].Pod.Name != made.Moves[0].Pod.Name || len(dropped) != 1 {
		t.Fatalf("kept %+v, dropped %+v", ok, dropped)
	}
	if r := dropped[0].Reason; r.Code != plan.PremiseChanged || !strings.Contains(r.Message, "the replacement of shop/ap-6c8f-01") {
		t.Errorf("dropped because of %+v", r)
	}
	made.Moves[0], made.Moves[1] = made.Moves[1], made.Moves[0]
	if ok, dropped = p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt); len(ok) != 1 || len(dropped) != 1 {
		t.Errorf("in the other order: kept %+v, dropped %+v", ok, dropped)
	}
}
