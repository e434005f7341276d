package controller_test

import (
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestAForetoldHintEvictsNothing: a plan that a dry run made as if a pressure hint were
// written is handed in. Where the hint does not stand the pod would come back, so that
// its move is dropped; once it stands, the plan is carried out.
func TestAForetoldHintEvictsNothing(t *testing.T) {
	conf, err := config.LoadFile("../examples/by-load.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := cluster.ReadFiles([]string{"../examples/busy-node.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stands, err := cluster.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	p := planner.New(conf.PlannerOptions())
	foretold, err := p.PredictHints(stands)
	if err != nil {
		t.Fatal(err)
	}
	made := p.Plan(foretold, plan.PlannerState{}, controller.Goals(foretold, conf.BuildStrategies(), nil), foretold.TakenAt)
	if len(made.Moves) != 1 || len(made.Pressure) != 1 || !made.Pressure[0].Predicted {
		t.Fatalf("%+v, hints %+v; want a move that needs a hint", made.Moves, made.Pressure)
	}
	for name, x := range map[string]struct {
		s     *cluster.Snapshot
		waves int
		want  plan.Reason
	}{
		"not written": {s: stands, want: plan.Reason{Code: plan.PremiseChanged}},
		"written":     {s: foretold, waves: 1},
	} {
		e := &scriptedEvictor{}
		c, o := newController(t, e, plan.Live)
		o.s, c.Planner, c.Strategies, c.ConfigHash = x.s, p, conf.BuildStrategies(), made.ConfigHash
		c.Clock = clocktesting.NewFakeClock(x.s.TakenAt)
		r, err := c.Apply(t.Context(), made, by)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.waves) != x.waves || len(r.Outcomes) != 1 || r.Outcomes[0].Reason.Code != x.want.Code {
			t.Errorf("%s: %d waves, outcomes %+v, stopped %v; want %d waves, %q", name, len(e.waves), r.Outcomes, r.Stopped, x.waves, x.want.Code)
		}
	}
}
