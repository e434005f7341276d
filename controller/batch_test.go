package controller_test

import (
	"context"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

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

// TestAPassStopsAtItsTime checks that a pass begins no batch after StopAt, and that the other moves wait for the next
// pass. The batch that has begun ends normally.
func TestAPassStopsAtItsTime(t *testing.T) {
	for stopAfter, want := range map[time.Duration]int{0: 0, time.Minute: 2, time.Hour: 3} {
		c, _ := newController(t, nil, plan.Live)
		clock := c.Clock.(*clocktesting.FakeClock)
		e := &slowEvictor{step: func() { clock.Step(time.Minute) }}
		c.Evictor, c.Planner, c.BatchSize, c.StopAt = e, &oneWavePlanner{}, evictor.BatchSize(8), clock.Now().Add(stopAfter)
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
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

// slowEvictor lets time pass during each batch.
type slowEvictor struct {
	scriptedEvictor
	step func()
}

func (s *slowEvictor) EvictWave(ctx context.Context, moves []plan.Move, onBound func()) evictor.Result {
	s.step()
	return s.scriptedEvictor.EvictWave(ctx, moves, onBound)
}

func TestAtOnce(t *testing.T) {
	for perMinute, want := range map[int]int{0: 0, 1: 1, 4: 1, 30: 7, 600: 150} {
		if got := evictor.BatchSize(perMinute); got != want {
			t.Errorf("%d evictions per minute: got a batch size of %d, want %d", perMinute, got, want)
		}
	}
}
