package controller_test

import (
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// newOneWaveController returns a controller whose plan has five moves in one wave. Each recheck drops the last
// remaining move, and adds the number of moves to the result.
func newOneWaveController(t *testing.T, e *scriptedEvictor) (*controller.Controller, *[]int) {
	t.Helper()
	c, _ := newController(t, e, plan.Live)
	p, asked := scriptedPlanner{}, []int{}
	for step := 1; step <= 5; step++ {
		p.plan.Moves = append(p.plan.Moves, plan.Move{Step: step, Wave: 1})
	}
	p.recheck = func(of plan.Plan, _ int) ([]plan.Move, []plan.Outcome) {
		asked = append(asked, len(of.Moves))
		last := len(of.Moves) - 1
		return of.Moves[:last], []plan.Outcome{{Step: of.Moves[last].Step, Outcome: plan.Dropped}}
	}
	c.Planner, c.BatchSize = p, 2
	return c, &asked
}

// If the pacer delays the moves of a long wave, the controller takes another snapshot before it continues.
func TestALongWaveIsLookedAtAgain(t *testing.T) {
	e := &scriptedEvictor{}
	c, asked := newOneWaveController(t, e)
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if len(e.waves) != 2 || len(e.waves[0]) != 2 || len(e.waves[1]) != 1 || e.waves[1][0].Step != 3 {
		t.Errorf("got waves %v, want steps 1 and 2, then 3", e.waves)
	}
	if !slices.Equal(*asked, []int{5, 2}) {
		t.Errorf("rechecked %v moves, want 5, then the remaining 2", *asked)
	}
	if len(r.Outcomes) != 5 {
		t.Errorf("got %d outcomes for 5 moves", len(r.Outcomes))
	}
}

// TestAPassStopsAtItsTime checks that a pass begins no batch after StopAt, and that the other moves wait for the next
// pass. The batch that has begun ends normally.
func TestAPassStopsAtItsTime(t *testing.T) {
	for stopAfter, want := range map[time.Duration]int{0: 0, time.Minute: 2, time.Hour: 3} {
		e := &scriptedEvictor{}
		c, _ := newOneWaveController(t, e)
		clock := c.Clock.(*clocktesting.FakeClock)
		e.during = func() { clock.Step(time.Minute) }
		c.StopAt = clock.Now().Add(stopAfter)
		r := must.Get(c.RunOnce(t.Context(), nil))(t)
		tried := 0
		for _, wave := range e.waves {
			tried += len(wave)
		}
		stopped := r.Stopped != nil && r.Stopped.Code == plan.PassTimeout
		if tried != want || stopped != (want < 3) || len(r.Outcomes) != 5 {
			t.Errorf("after %s: %d moves were tried (want %d), %d outcomes (want 5), stopped: %v", stopAfter, tried, want, len(r.Outcomes), r.Stopped)
		}
	}
}
