package evictor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// slowAPI answers evictions after a delay, or never. slowAPI returns early if the call is cancelled.
type slowAPI struct {
	*fakeCluster
	after time.Duration
}

func (s slowAPI) evict(ctx context.Context, e *policyv1.Eviction) error {
	t := time.NewTimer(s.after)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return s.fakeCluster.evict(ctx, e)
	}
}

// The process waits for an answer because an admission webhook may take 30 s. The process stops
// waiting if it must not act any more or was told to stop.
func TestASlowAnswerIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name            string
		after           time.Duration
		lost, told      time.Duration // 0: never answers
		evicted         bool
		gaveUp, atLeast time.Duration
		says            string
	}{
		{"at once", 0, 0, 0, true, 0, 0, ""},
		{"a slow webhook", 12 * time.Second, 0, 0, true, 12 * time.Second, 12 * time.Second, ""},
		{"the slowest", 30 * time.Second, 0, 0, true, 30 * time.Second, 30 * time.Second, ""},
		{"none", time.Hour, 0, 0, false, 35 * time.Second, 34 * time.Second, "waited for 34s; is an admission webhook"},
		{"the Lease is lost early", time.Hour, time.Second, 0, false, callTimeout, callTimeout, errStoppedOrNotLeading.Error()},
		{"the Lease is lost late", time.Hour, 10 * time.Second, 0, false, 10500 * time.Millisecond, 10 * time.Second,
			errStoppedOrNotLeading.Error()},
		{"answered when the Lease is lost", 3 * time.Second, time.Second, 0, true, 3 * time.Second, 3 * time.Second, ""},
		{"told to stop early", time.Hour, 0, time.Second, false, callTimeout, callTimeout, errStoppedOrNotLeading.Error()},
		{"told to stop late", time.Hour, 0, 20 * time.Second, false, 20500 * time.Millisecond, 20 * time.Second, errStoppedOrNotLeading.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFakeCluster(testPod("d1", "u1", "n3"))
				w.createReplacement = "n1"
				l := newTestLive(w, clock.RealClock{})
				l.podAPI = slowAPI{w, c.after}
				begun := time.Now()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if c.told > 0 {
					defer time.AfterFunc(c.told, stop).Stop()
				}
				l.opts.CheckLeading = func() *plan.Reason {
					if c.lost > 0 && time.Since(begun) >= c.lost {
						return &plan.Reason{Code: plan.NotLeading}
					}
					return nil
				}
				r := l.EvictWave(ctx, []plan.Move{testMove(1, "d1", "u1")}, nil)
				o, took := singleOutcome(t, r), time.Since(begun)
				if (o.Outcome == plan.Evicted) != c.evicted || (r.Stop == nil) != c.evicted || !strings.Contains(o.Reason.Message, c.says) {
					t.Errorf("got outcome %+v, stop reason %v; want evicted: %v, message with %q", o, r.Stop, c.evicted, c.says)
				}
				if took > c.gaveUp || took < c.atLeast {
					t.Errorf("the call took %s, want %s to %s", took, c.atLeast, c.gaveUp)
				}
			})
		})
	}
}

// Two evictions at a time wait for answers. If each answer takes 30 s, no eviction begins
// after a minute, because the snapshot is too old by then.
func TestSlowAnswersEndWhatTheWaveRestsOn(t *testing.T) {
	for after, want := range map[time.Duration]int{30 * time.Second: 4, 3 * time.Second: 6} {
		runAtNoon(t, func(t *testing.T) {
			var moves []plan.Move
			w := newFakeCluster()
			for i, name := range []string{"d1", "d2", "d3", "d4", "d5", "d6"} {
				w.pods[name] = testPod(name, "u"+name, "n3")
				moves = append(moves, testMove(i+1, name, "u"+name))
			}
			w.createReplacement = "n1"
			l := newTestLive(w, clock.RealClock{})
			l.podAPI, l.calls = slowAPI{w, after}, make(chan struct{}, 2)
			r := l.EvictWave(t.Context(), moves, nil)
			evicted := 0
			for _, o := range r.Outcomes {
				switch {
				case o.Outcome == plan.Evicted:
					evicted++
				case o.Outcome != plan.Dropped || o.Reason.Code != plan.PremiseChanged:
					t.Errorf("%+v", o)
				}
			}
			if evicted != want || w.evictRequests != want || r.Stop != nil {
				t.Errorf("answers after %s: got %d evicted, %d requests, stop reason %v; want %d", after, evicted, w.evictRequests, r.Stop, want)
			}
		})
	}
}
