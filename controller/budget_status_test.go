package controller_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// twoWavePlanner plans one move in each of two waves. In the second wave, the first `rejections`
// rechecks reject the pod with the given reason code.
type twoWavePlanner struct {
	unlimitedPlanner
	code       plan.Code
	rejections int
	rechecks   map[int]int // number of rechecks by wave
}

func (p *twoWavePlanner) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	return plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1}, {Step: 2, Wave: 2}}}
}

func (p *twoWavePlanner) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, of plan.Plan, wave int,
	_ time.Time) ([]plan.Move, []plan.Outcome) {
	p.rechecks[wave]++
	m := of.Moves[0] // index of the wave
	if wave == 2 && p.rechecks[wave] <= p.rejections {
		return nil, []plan.Outcome{{Step: m.Step, Outcome: plan.Dropped, Reason: plan.Reason{Code: p.code}}}
	}
	return []plan.Move{m}, nil
}

// runTwoWaves runs a pass in a synctest bubble, where the time advances whenever the pass waits.
func runTwoWaves(t *testing.T, p *twoWavePlanner) (evicted []int, waited time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &scriptedEvictor{}
		c, _ := newController(t, e, plan.Live)
		c.Planner = p
		c.Clock = clock.RealClock{}
		start := time.Now()
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil {
			t.Error(err)
		}
		for _, o := range r.Outcomes {
			if o.Outcome == plan.Evicted {
				evicted = append(evicted, o.Step)
			}
		}
		waited = time.Since(start)
	})
	return evicted, waited
}

// The status of a budget or workload lags behind its pods. The controller rechecks a move that such
// a status blocks, but not a move that is blocked for another reason.
func TestAWaveWaitsForBudgetsToSettle(t *testing.T) {
	for _, c := range []struct {
		code    plan.Code
		settles bool
	}{
		{plan.BlockedByPDB, true},
		{plan.PDBNotObserved, true},
		{plan.WorkloadUnavailable, true},
		{plan.WorkloadDegraded, true},
		{plan.LastReadyPod, true},
		{plan.PremiseChanged, false},
		{plan.EvictNever, false},
		{plan.OutsideWindow, false},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			p := &twoWavePlanner{code: c.code, rejections: 3, rechecks: map[int]int{}}
			evicted, waited := runTwoWaves(t, p)
			want, wait, looks := 1, time.Duration(0), 1
			if c.settles {
				want, wait, looks = 2, 1500*time.Millisecond, 4
			}
			if len(evicted) != want || waited != wait || p.rechecks[2] != looks || p.rechecks[1] != 1 {
				t.Errorf("evicted %v after %s and %d rechecks, want %d after %s and %d", evicted, waited, p.rechecks[2], want, wait, looks)
			}
		})
	}
}

// If the status has not changed after ten seconds, the move is dropped and the pass continues.
func TestAWaveDoesNotWaitForever(t *testing.T) {
	p := &twoWavePlanner{code: plan.BlockedByPDB, rejections: 1000, rechecks: map[int]int{}}
	evicted, waited := runTwoWaves(t, p)
	if len(evicted) != 1 || waited != 10*time.Second {
		t.Errorf("evicted %v after %s, want one eviction after 10s", evicted, waited)
	}
}
