package controller_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// runTwoWaves runs a pass with one move in each of two waves, in a synctest bubble, where the time advances whenever
// the pass waits. In the second wave, so many rechecks reject the pod with the reason code. The result rechecks counts
// them by wave.
func runTwoWaves(t *testing.T, code plan.Code, rejections int) (evicted int, waited time.Duration, rechecks map[int]int) {
	t.Helper()
	rechecks = map[int]int{}
	synctest.Test(t, func(t *testing.T) {
		c, _ := newController(t, &scriptedEvictor{}, plan.Live)
		c.Clock = clock.RealClock{}
		c.Planner = scriptedPlanner{plan: plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1}, {Step: 2, Wave: 2}}},
			recheck: func(of plan.Plan, wave int) ([]plan.Move, []plan.Outcome) {
				if rechecks[wave]++; wave == 2 && rechecks[wave] <= rejections {
					return nil, []plan.Outcome{{Step: of.Moves[0].Step, Outcome: plan.Dropped, Reason: plan.Reason{Code: code}}}
				}
				return of.Moves, nil
			}}
		start := time.Now()
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil {
			t.Error(err)
		}
		for _, o := range r.Outcomes {
			if o.Outcome == plan.Evicted {
				evicted++
			}
		}
		waited = time.Since(start)
	})
	return evicted, waited, rechecks
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
			evicted, waited, rechecks := runTwoWaves(t, c.code, 3)
			want, wait, looks := 1, time.Duration(0), 1
			if c.settles {
				want, wait, looks = 2, 1500*time.Millisecond, 4
			}
			if evicted != want || waited != wait || rechecks[2] != looks || rechecks[1] != 1 {
				t.Errorf("evicted %d after %s and %d rechecks, want %d after %s and %d", evicted, waited, rechecks[2], want, wait, looks)
			}
		})
	}
}

// If the status has not changed after ten seconds, the move is dropped and the pass continues.
func TestAWaveDoesNotWaitForever(t *testing.T) {
	evicted, waited, _ := runTwoWaves(t, plan.BlockedByPDB, 1000)
	if evicted != 1 || waited != 10*time.Second {
		t.Errorf("evicted %d after %s, want one eviction after 10s", evicted, waited)
	}
}
