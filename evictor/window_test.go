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
					t.Errorf("got outcome %+v after %d requests; want an eviction", o, w.evictRequests)
				}
				return
			}
			if o.Outcome != plan.Dropped || o.Reason.Code != plan.OutsideWindow || w.evictRequests != 0 || r.Stop != nil {
				t.Errorf("got outcome %+v, %d requests, stop reason %v; want a dropped move and no request", o, w.evictRequests, r.Stop)
			}
		})
	}
}

// The window can close while the pod is read, so the evictor checks the clock right before the request.
func TestAWindowThatClosesWhileThePodIsReadEndsItsEviction(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	fake := clocktesting.NewFakeClock(noon)
	w.onGet = func(int) error { fake.Step(3 * time.Second); return nil }
	m := testMove(1, "d1", "u1")
	m.NotAfter = noon.Add(2 * time.Second)
	if o := singleOutcome(t, newTestLive(w, fake).EvictWave(t.Context(), []plan.Move{m}, nil)); o.Reason.Code != plan.OutsideWindow ||
		w.evictRequests != 0 {
		t.Errorf("got outcome %+v after %d requests", o, w.evictRequests)
	}
}

// If the window closes during a wave, moves that wait for their turn are dropped. The evictor
// watches evictions in flight until they end.
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
			t.Errorf("got %d evicted, %d outside the window, %d requests: %+v", evicted, outside, w.evictRequests, r.Outcomes)
		}
	})
}

// runAtNoon runs f in a synctest bubble at noon. The time advances when all goroutines of the bubble wait.
func runAtNoon(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		f(t)
	})
}
