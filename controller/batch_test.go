package controller_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
)

// oneWavePlanner plans five moves in one wave and counts the rechecks. Each recheck of
// oneWavePlanner drops the last remaining move.
type oneWavePlanner struct {
	unlimitedPlanner
	asked []int
}

func (o *oneWavePlanner) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	var p plan.Plan
	for step := 1; step <= 5; step++ {
		p.Moves = append(p.Moves, plan.Move{Step: step, Wave: 1})
	}
	return p
}

func (o *oneWavePlanner) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, p plan.Plan, _ int, _ time.Time) ([]plan.Move,
	[]plan.Outcome) {
	o.asked = append(o.asked, len(p.Moves))
	last := len(p.Moves) - 1
	return p.Moves[:last], []plan.Outcome{{Step: p.Moves[last].Step, Outcome: plan.Dropped}}
}

// If the pacer delays the moves of a long wave, the controller takes another snapshot before it continues.
func TestALongWaveIsLookedAtAgain(t *testing.T) {
	e, p := &scriptedEvictor{}, &oneWavePlanner{}
	c, _ := newController(t, e, plan.Live)
	c.Planner, c.BatchSize = p, evictor.BatchSize(8)
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.waves) != 2 || len(e.waves[0]) != 2 || len(e.waves[1]) != 1 || e.waves[1][0].Step != 3 {
		t.Errorf("got waves %v, want steps 1 and 2, then 3", e.waves)
	}
	if len(p.asked) != 2 || p.asked[0] != 5 || p.asked[1] != 2 {
		t.Errorf("rechecked %v moves, want 5, then the remaining 2", p.asked)
	}
	if len(r.Outcomes) != 5 {
		t.Errorf("got %d outcomes for 5 moves", len(r.Outcomes))
	}
}

func TestAtOnce(t *testing.T) {
	for perMinute, want := range map[int]int{0: 0, 1: 1, 4: 1, 30: 7, 600: 150} {
		if got := evictor.BatchSize(perMinute); got != want {
			t.Errorf("%d evictions per minute: got a batch size of %d, want %d", perMinute, got, want)
		}
	}
}
