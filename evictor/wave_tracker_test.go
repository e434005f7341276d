package evictor

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// EvictWave calls bound exactly once, whatever the outcomes are, and before it returns.
func TestBoundIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		w     *fakeCluster
		moves []plan.Move
	}{
		"both land": {func() *fakeCluster {
			w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
			w.createReplacement = "n1"
			return w
		}(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}},
		"one is gone": {func() *fakeCluster {
			w := newFakeCluster(testPod("d1", "u1", "n3"))
			w.createReplacement = "n1"
			return w
		}(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}},
		"no pod can be evicted": {newFakeCluster(), []plan.Move{testMove(1, "d1", "u1")}},
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Int32
			newTestLive(c.w, clock.RealClock{}).EvictWave(t.Context(), c.moves, func() { told.Add(1) })
			if told.Load() != 1 {
				t.Errorf("bound was called %d times, want once", told.Load())
			}
		})
	}
}

// The wave calls bound when the replacement is on a node, and continues until it is Ready.
func TestBoundDoesNotWaitForReady(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.createReplacement, w.notReady = "n1", true
	bound, done := make(chan struct{}), make(chan Result)
	go func() {
		done <- newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, func() { close(bound) })
	}()
	<-bound
	select {
	case r := <-done:
		t.Fatalf("the wave ended early: %+v", r)
	default:
	}
	w.change(func() {
		w.pods["d1-new"].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	if o := singleOutcome(t, <-done); !o.LandedAsPredicted || o.ReadyAfter == "" {
		t.Errorf("%+v", o)
	}
}

// A replacement without a node is not bound. If the wave is told to stop, it calls bound at its end.
func TestBoundWaitsForTheScheduler(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.pending, w.notReady = true, true
	fake := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	ctx, cancel := context.WithCancel(t.Context())
	evicting := make(chan struct{})
	w.onEvict = func() { close(evicting) }
	start, told := fake.Now(), time.Duration(-1)
	done := make(chan Result)
	go func() {
		done <- newTestLive(w, fake).EvictWave(ctx, []plan.Move{testMove(1, "d1", "u1")}, func() { told = fake.Since(start) })
	}()
	<-evicting
	cancel()
	for {
		select {
		case r := <-done:
			if o := singleOutcome(t, r); o.Reason.Code != plan.OutcomeUnknown || told < watchAfterStop {
				t.Errorf("got outcome %+v and bound after %s, want bound at the end of the wave", o, told)
			}
			return
		case <-time.After(time.Millisecond): // the fake clock cannot wait for its waiters
			fake.Step(time.Second)
		}
	}
}

// change edits the cluster and notifies all watchers.
func (w *fakeCluster) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range w.pods { // readers still use the old objects
		w.pods[name] = p.DeepCopy()
	}
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}
