package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// displacementEvictor executes a displaced move and the move that needs its room. The test sets the
// outcome of the first wave. Later snapshots show all replacements on their predicted nodes.
type displacementEvictor struct {
	t     *testing.T
	o     *fixedObserver
	first plan.Outcome
	waves [][]plan.Move
}

func (e *displacementEvictor) EvictWave(_ context.Context, moves []plan.Move, _ func()) evictor.Result {
	e.waves = append(e.waves, moves)
	e.o.s = snapshotOf(e.t, simulation.WithReplacements(e.o.s.Objects, moves))
	out := plan.Outcome{Outcome: plan.Evicted, Landed: moves[0].To, LandedAsPredicted: true}
	if len(e.waves) == 1 {
		out = e.first
	}
	out.Step, out.Pod = moves[0].Step, moves[0].Pod
	return evictor.Result{Outcomes: []plan.Outcome{out}}
}

func snapshotOf(t *testing.T, o *cluster.Objects) *cluster.Snapshot {
	t.Helper()
	s := must.Get(cluster.New(o))(t)
	return s
}

// newDisplacementController returns a controller for a cluster in which evicting pod cache makes room for pod api.
func newDisplacementController(t *testing.T, first plan.Outcome) (*controller.Controller, *displacementEvictor) {
	t.Helper()
	e := &displacementEvictor{t: t, first: first}
	c, o := newScenarioController(t, "step-makes-room", e, plan.Live)
	e.o, c.Planner = o, withoutReplan{c.Planner}
	c.Clock.(*clocktesting.FakeClock).SetTime(o.s.TakenAt)
	return c, e
}

// withoutReplan is a planner whose second plan in a pass has no moves.
type withoutReplan struct{ controller.Planner }

func (withoutReplan) Replan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, []plan.Move, time.Time, time.Time) plan.Plan {
	return plan.Plan{}
}

// newScenarioController returns a controller with the cluster and the configuration of a planner scenario.
func newScenarioController(t *testing.T, name string, e evictor.Evictor, mode plan.Mode) (*controller.Controller, *fixedObserver) {
	t.Helper()
	given := scenario.Read(t, name)
	conf := must.Get(config.Load("config.yaml", given.Config))(t)
	c, o := newController(t, e, mode)
	o.s = snapshotOf(t, given.Objects(t))
	c.Planner, c.Strategies = planner.New(conf.PlannerOptions()), conf.BuildStrategies()
	return c, o
}

// The controller evicts api only if the replacement of cache landed as predicted. After any other
// outcome of cache, the controller does not evict api, even if there is room.
func TestTheSecondHalfOfAStepFollowsOnlyTheFirst(t *testing.T) {
	for _, c := range []struct {
		what  string
		first plan.Outcome
		waves int
		says  string
	}{
		{"as predicted", plan.Outcome{Outcome: plan.Evicted, Landed: "n3", LandedAsPredicted: true}, 2, ""},
		{"gone by itself", plan.Outcome{Outcome: plan.AlreadyGone, Reason: plan.Reason{Code: plan.PodGoneAlready}}, 2, ""},
		{"elsewhere", plan.Outcome{Outcome: plan.Evicted, Landed: "n1"}, 1,
			"shop/cache-6c8f-00 was to make room for it on n2, but its replacement landed on n1, not on the predicted node n3"},
		{"blocked", plan.Outcome{Outcome: plan.Blocked, Reason: plan.Reason{Code: plan.BlockedByPDB}}, 1,
			"shop/cache-6c8f-00 was to make room for it on n2, but did not: blocked (BlockedByPDB)"},
		{"not known", plan.Outcome{Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.OutcomeUnknown}}, 1,
			"did not: unknown (OutcomeUnknown)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			ctl, e := newDisplacementController(t, c.first)
			r, err := ctl.RunOnce(t.Context(), nil)
			if err != nil || len(r.Plan.Moves) != 2 || len(r.Outcomes) != 2 {
				t.Fatalf("%v, %+v, %+v", err, r.Plan.Moves, r.Outcomes)
			}
			if len(e.waves) != c.waves {
				t.Errorf("got %d waves, want %d: %+v", len(e.waves), c.waves, r.Outcomes)
			}
			if last := r.Outcomes[1]; c.says != "" && (last.Outcome != plan.Dropped || last.Reason.Code != plan.PremiseChanged ||
				!strings.Contains(last.Reason.Message, c.says)) {
				t.Errorf("%+v", last)
			}
		})
	}
}

// If a budget blocks api, evicting cache would be useless, so the controller does not evict cache.
func TestNoStepIsBegunThatCannotEnd(t *testing.T) {
	c, e := newDisplacementController(t, plan.Outcome{Outcome: plan.Evicted, Landed: "n3", LandedAsPredicted: true})
	o := *e.o.s.Objects
	o.PodDisruptionBudgets = append(o.PodDisruptionBudgets,
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api"},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}},
			Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}})
	later := snapshotOf(t, &o)
	e.o.before = func() {
		if e.o.snapshots > 0 {
			e.o.s = later
		}
	}
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Moves) != 2 || len(e.waves) != 0 {
		t.Errorf("got error %v, %d planned moves, %d waves", err, len(r.Plan.Moves), len(e.waves))
	}
	if len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.Dropped ||
		!strings.Contains(r.Outcomes[1].Reason.Message, "did not: dropped (PremiseChanged)") {
		t.Errorf("%+v", r.Outcomes)
	}
}
