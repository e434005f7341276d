package controller_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
)

// oneWavePlanner plans five moves in one wave, and counts how often it is asked again.
// Each time it drops the last of those that are left.
type oneWavePlanner struct {
	noLimits
	asked []int
}

func (o *oneWavePlanner) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	var p plan.Plan
	for step := 1; step <= 5; step++ {
		p.Moves = append(p.Moves, plan.Move{Step: step, Wave: 1})
	}
	return p
}

func (o *oneWavePlanner) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, p plan.Plan, _ int, _ time.Time) ([]plan.Move, []plan.Outcome) {
	o.asked = append(o.asked, len(p.Moves))
	last := len(p.Moves) - 1
	return p.Moves[:last], []plan.Outcome{{Step: p.Moves[last].Step, Outcome: plan.Dropped}}
}

// TestALongWaveIsLookedAtAgain: what the pace does not let begin soon waits for
// another look at the cluster.
func TestALongWaveIsLookedAtAgain(t *testing.T) {
	e, p := &scriptedEvictor{}, &oneWavePlanner{}
	c, _ := newController(t, e, plan.Live)
	c.Planner, c.BatchSize = p, evictor.BatchSize(8)
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.waves) != 2 || len(e.waves[0]) != 2 || len(e.waves[1]) != 1 || e.waves[1][0].Step != 3 {
		t.Errorf("waves %v, want steps 1 and 2, then 3", e.waves)
	}
	if len(p.asked) != 2 || p.asked[0] != 5 || p.asked[1] != 2 {
		t.Errorf("rechecked %v moves, want 5, then the 2 that were left", p.asked)
	}
	if len(r.Outcomes) != 5 {
		t.Errorf("%d outcomes of 5 moves", len(r.Outcomes))
	}
}

func TestAtOnce(t *testing.T) {
	for perMinute, want := range map[int]int{0: 0, 1: 1, 4: 1, 30: 7, 600: 150} {
		if got := evictor.BatchSize(perMinute); got != want {
			t.Errorf("%d a minute: %d at once, want %d", perMinute, got, want)
		}
	}
}
