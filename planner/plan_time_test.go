package planner_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/work"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestPlansThatWereStoppedAreTheSameAgain: wherever the time for a plan ends, strategies, search and bound end there,
// and the work that the plan records gives the same bytes again. The moves that a stopped plan has have room.
func TestPlansThatWereStoppedAreTheSameAgain(t *testing.T) {
	o, conf := simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 12, 12, 8), configWithTwoStrategies(t)
	planWithin := func(w *work.Budget) (plan.Plan, string) {
		s := must.Get(cluster.New(o))(t)
		s.Work = w
		p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
		checkRoom(t, s, p)
		text := must.Get(json.Marshal(p))(t)
		return p, string(text)
	}
	_, want := planWithin(nil)
	if _, got := planWithin(work.New(func() bool { return false }, 0)); got != want {
		t.Error("a plan whose time never ends differs from a plan without such a time")
	}
	stops, some := 0, false
	for most := int64(1); ; most += 1 + most/8 {
		p, first := planWithin(work.New(nil, most))
		if p.StoppedAt == 0 {
			if first != want {
				t.Errorf("a plan with work for %d differs from a plan without a limit", most)
			}
			break
		}
		stops, some = stops+1, some || len(p.Moves) > 0
		if _, again := planWithin(work.New(nil, p.StoppedAt)); again != first {
			t.Fatalf("stopped at %d: the plan differs the second time", p.StoppedAt)
		}
		if !strings.HasPrefix(p.SearchLimitReached, "limits.maxPlanTime allows 2m0s per plan; ") {
			t.Errorf("stopped at %d: the plan says %q", p.StoppedAt, p.SearchLimitReached)
		}
	}
	if stops < 10 || !some {
		t.Errorf("%d stops, with moves: %v; want 10 or more, and moves in some", stops, some)
	}
}
