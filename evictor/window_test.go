package evictor

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestAWindowEndsEvictions(t *testing.T) {
	for _, c := range []struct {
		name     string
		notAfter time.Time
		evicted  bool
	}{
		{"no window", time.Time{}, true},
		{"long closed", noon.Add(-time.Hour), false},
		{"closes this moment", noon, false},
		{"closes in a moment", noon.Add(time.Nanosecond), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "u1", "n3"))
			w.createReplacement = "n1"
			m := testMove(1, "d1", "u1")
			m.NotAfter = c.notAfter
			r := newTestLive(w, clocktesting.NewFakeClock(noon)).EvictWave(t.Context(), []plan.Move{m}, nil)
			o := singleOutcome(t, r)
			if c.evicted {
				if o.Outcome != plan.Evicted || w.evictRequests != 1 {
					t.Errorf("%+v, asked %d times; want it evicted", o, w.evictRequests)
				}
				return
			}
			if o.Outcome != plan.Dropped || o.Reason.Code != plan.OutsideWindow || w.evictRequests != 0 || r.Stop != nil {
				t.Errorf("%+v, asked %d times, stop %v; want it dropped without a request", o, w.evictRequests, r.Stop)
			}
		})
	}
}

// TestAWindowThatClosesWhileThePodIsReadEndsItsEviction: the clock is looked at
// right before the request.
func TestAWindowThatClosesWhileThePodIsReadEndsItsEviction(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	fake := clocktesting.NewFakeClock(noon)
	w.onGet = func(int) error { fake.Step(3 * time.Second); return nil }
	m := testMove(1, "d1", "u1")
	m.NotAfter = noon.Add(2 * time.Second)
	if o := singleOutcome(t, newTestLive(w, fake).EvictWave(t.Context(), []plan.Move{m}, nil)); o.Reason.Code != plan.OutsideWindow || w.evictRequests != 0 {
		t.Errorf("%+v, asked %d times", o, w.evictRequests)
	}
}

// TestAWindowThatClosesWithinAWave: what waits for its turn is not evicted any
// more; what is under way is followed to its end.
func TestAWindowThatClosesWithinAWave(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
		w.createReplacement = "n1"
		l := newTestLive(w, clock.RealClock{})
		l.opts.PerMinute = 1
		l.pacer = newPacer(1, clock.RealClock{})
		moves := []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}
		for i := range moves {
			moves[i].NotAfter = noon.Add(30 * time.Second)
		}
		r := l.EvictWave(t.Context(), moves, nil)
		evicted, outside := 0, 0
		for _, o := range r.Outcomes {
			switch {
			case o.Outcome == plan.Evicted && o.Landed == "n1":
				evicted++
			case o.Reason.Code == plan.OutsideWindow:
				outside++
			}
		}
		if evicted != 1 || outside != 1 || w.evictRequests != 1 {
			t.Errorf("%d evicted, %d outside the window, asked %d times: %+v", evicted, outside, w.evictRequests, r.Outcomes)
		}
	})
}

// runAtNoon runs f in a bubble whose clock, the real one to all in it, shows noon and
// goes on whenever all in it wait.
func runAtNoon(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		f(t)
	})
}
