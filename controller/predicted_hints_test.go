package controller_test

import (
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// The plan of a dry run assumes a predicted pressure hint. If the hint is not on the node, the scheduler would return
// the pod, so the move is dropped. If the hint is on the node, the plan is executed.
func TestAPredictedHintEvictsNothing(t *testing.T) {
	conf := must.Get(config.LoadFile("../examples/by-load.yaml"))(t)
	objects := must.Get(cluster.ReadFiles([]string{"../examples/busy-node.yaml"}, nil))(t)
	current := must.Get(cluster.New(objects))(t)
	p := planner.New(conf.PlannerOptions())
	predicted := must.Get(p.PredictHints(current))(t)
	made := p.Plan(predicted, plan.PlannerState{}, controller.Goals(predicted, conf.BuildStrategies(), nil), predicted.TakenAt)
	if len(made.Moves) != 1 || len(made.Pressure) != 1 || !made.Pressure[0].Predicted {
		t.Fatalf("got moves %+v, hints %+v; want a move that needs a hint", made.Moves, made.Pressure)
	}
	for name, x := range map[string]struct {
		s     *cluster.Snapshot
		waves int
		want  plan.Reason
	}{
		"not written": {s: current, want: plan.Reason{Code: plan.PremiseChanged}},
		"written":     {s: predicted, waves: 1},
	} {
		e := &scriptedEvictor{}
		c, o := newController(t, e, plan.Live)
		o.s, c.Planner, c.Strategies, c.ConfigHash = x.s, p, conf.BuildStrategies(), made.ConfigHash
		c.Clock = clocktesting.NewFakeClock(x.s.TakenAt)
		r := must.Get(apply(t.Context(), t, c, made))(t)
		if len(e.waves) != x.waves || len(r.Outcomes) != 1 || r.Outcomes[0].Reason.Code != x.want.Code {
			t.Errorf("%s: got %d waves, outcomes %+v, stop reason %v; want %d waves, %q", name, len(e.waves), r.Outcomes, r.Stopped, x.waves,
				x.want.Code)
		}
	}
}
