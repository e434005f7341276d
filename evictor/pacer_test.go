package evictor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A reload must not start an eviction earlier than either pacer allows.
func TestThePaceGoesOnWithAnotherEvictor(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct{ before, now, wantSeconds int }{
		{60, 60, 1}, {60, 6, 10}, {6, 60, 10}, {0, 60, 1}, {60, 0, 1},
	} {
		fake := clocktesting.NewFakeClock(start)
		before, now := &Live{pacer: newPacer(c.before, fake)}, &Live{pacer: newPacer(c.now, fake)}
		if !before.pacer.begin(t.Context()) {
			t.Fatal("no turn")
		}
		before.pacer.end(true)
		now.ContinueFrom(before)
		if want := start.Add(time.Duration(c.wantSeconds) * time.Second); !now.pacer.next.Equal(want) {
			t.Errorf("%d per minute, then %d: the next eviction at +%s, want +%ds", c.before, c.now, now.pacer.next.Sub(start), c.wantSeconds)
		}
	}
	unused := &Live{pacer: newPacer(6, clocktesting.NewFakeClock(start))}
	fresh := &Live{pacer: newPacer(60, clocktesting.NewFakeClock(start))}
	fresh.ContinueFrom(unused)
	if !fresh.pacer.next.IsZero() {
		t.Error("the pacer waits although the earlier evictor evicted nothing")
	}
}

// TestThePaceGoesOnWithoutALimit: the new evictor has no limit. Its first evictions wait for the
// interval of the earlier one, and the later ones do not wait.
func TestThePaceGoesOnWithoutALimit(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		before, now := &Live{pacer: newPacer(6, clock.RealClock{})}, &Live{pacer: newPacer(0, clock.RealClock{})}
		if !before.pacer.begin(t.Context()) {
			t.Fatal("no turn")
		}
		before.pacer.end(true)
		now.ContinueFrom(before)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if !now.pacer.begin(t.Context()) || time.Since(noon) != 10*time.Second {
					t.Errorf("a turn after %s, want 10s", time.Since(noon))
				}
				now.pacer.end(true)
			})
		}
		wg.Wait()
	})
}

// slowFirstReads answers the first reads of pods late, the first read last.
type slowFirstReads struct {
	*fakeCluster
	delays chan time.Duration
}

func (s slowFirstReads) get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	select {
	case d := <-s.delays:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(d):
		}
	default:
	}
	return s.fakeCluster.get(ctx, namespace, name)
}

// TestEvictionsWithSlowChecksKeepTheirInterval checks that evictions stay 500 ms apart (120 per minute), although the
// checks of the first evictions end late and at about the same time.
func TestEvictionsWithSlowChecksKeepTheirInterval(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"), testPod("d3", "u3", "n3"))
		w.createReplacement = "n1"
		var at []time.Time
		w.onEvict = func() { at = append(at, time.Now()) }
		slow := slowFirstReads{w, make(chan time.Duration, 2)}
		slow.delays <- 1001 * time.Millisecond
		slow.delays <- 501 * time.Millisecond
		l := newTestLive(w, clock.RealClock{})
		l.podAPI = slow
		l.pacer = newPacer(120, clock.RealClock{})
		l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2"), testMove(3, "d3", "u3")}, nil)
		if len(at) != 3 {
			t.Fatalf("%d evictions, want 3", len(at))
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap < 500*time.Millisecond {
				t.Errorf("evictions %d and %d are %s apart, want at least 500ms", i+1, i+2, gap)
			}
		}
	})
}

// TestAnAttemptWithoutARequestTakesNoTurn checks that a move that sends no eviction request, because its pod is gone or
// cannot be read, does not delay the next eviction.
func TestAnAttemptWithoutARequestTakesNoTurn(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d3", "u3", "n3"))
		w.createReplacement = "n1"
		w.onGet = func(n int) error {
			if n == 1 {
				return errors.New("connection lost")
			}
			return nil
		}
		l := newTestLive(w, clock.RealClock{})
		l.pacer = newPacer(1, clock.RealClock{})
		var at time.Duration
		w.onEvict = func() { at = time.Since(noon) }
		l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2"), testMove(3, "d3", "u3")}, nil)
		if w.evictRequests > 1 || at > 10*time.Second {
			t.Errorf("%d evictions, the last after %s", w.evictRequests, at)
		}
		if !l.pacer.begin(t.Context()) {
			t.Error("the pacer gives no further turn")
		}
	})
}
