package evictor

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// newPod returns a pod of a workload that was created this long after noon.
func newPod(name, workload string, after time.Duration) *corev1.Pod {
	p := testPod(name, "uid-"+name, "n1")
	p.Labels = map[string]string{"app": workload}
	p.CreationTimestamp = metav1.NewTime(noon.Add(after))
	return p
}

// trackerCase is a wave with the evicted pods d1 and d2 of workload d. The pod old of d existed before the wave.
type trackerCase struct {
	t      *testing.T
	w      *fakeCluster
	l      *Live
	waves  *waveTracker
	d1, d2 *trackedEviction
}

func newTrackerCase(t *testing.T) *trackerCase {
	w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"), newPod("old", "d", -time.Hour))
	c := &trackerCase{t: t, w: w, l: newTestLive(w, clock.RealClock{})}
	moves := []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}
	c.waves = c.l.newWaveTracker(moves)
	c.d1, c.d2 = c.waves.track(moves[0]), c.waves.track(moves[1])
	return c
}

// scan changes the cluster, scans it, and compares the replacements of d1 and d2 ("" for none).
func (c *trackerCase) scan(what, d1, d2 string, change func(pods map[string]*corev1.Pod)) {
	c.t.Helper()
	c.w.change(func() { change(c.w.pods) })
	c.waves.scan(c.l, "shop")
	for f, want := range map[*trackedEviction]string{c.d1: d1, c.d2: d2} {
		r, _ := c.waves.replacementState(f)
		if got := podName(r); got != want {
			c.t.Errorf("%s: the replacement of %s is %q, want %q", what, f.move.Pod.Name, got, want)
		}
	}
}

func podName(p *corev1.Pod) string {
	if p == nil {
		return ""
	}
	return p.Name
}

func (c *trackerCase) notified(f *trackedEviction) bool {
	select {
	case <-f.changed:
		return true
	default:
		return false
	}
}

func add(pods ...*corev1.Pod) func(map[string]*corev1.Pod) {
	return func(there map[string]*corev1.Pod) {
		for _, p := range pods {
			there[p.Name] = p
		}
	}
}

// TestWhichPodsReplaceTheEvicted: a replacement is a pod of the same workload that began to exist
// during the wave and does not terminate. Each evicted pod has its own replacement, and the oldest
// pod comes first.
func TestWhichPodsReplaceTheEvicted(t *testing.T) {
	c := newTrackerCase(t)
	c.scan("before any change", "", "", add())
	c.scan("a pod of another workload", "", "", add(newPod("e", "e", 0)))
	c.scan("a pod without a workload", "", "", add(newPod("bare", "", 0)))
	dying := newPod("dying", "d", 0)
	dying.DeletionTimestamp = &metav1.Time{Time: noon}
	c.scan("a new pod that terminates", "", "", add(dying))
	c.scan("two new pods", "older", "newer", add(newPod("newer", "d", 2*time.Second), newPod("older", "d", time.Second)))
	c.scan("a third new pod", "older", "newer", add(newPod("third", "d", 3*time.Second)))
}

// TestAReplacementThatEnds: the eviction gets the next new pod if its replacement terminates or is gone. A pod that has
// begun to terminate replaces no pod of the wave.
func TestAReplacementThatEnds(t *testing.T) {
	c := newTrackerCase(t)
	c.scan("two new pods", "a", "b", add(newPod("a", "d", 1*time.Second), newPod("b", "d", 2*time.Second)))
	c.scan("a terminates", "", "b", func(pods map[string]*corev1.Pod) { pods["a"].DeletionTimestamp = &metav1.Time{Time: noon} })
	c.scan("a terminates still", "", "b", add())
	c.scan("a next pod", "c", "b", add(newPod("c", "d", 3*time.Second)))
	c.scan("c is gone", "", "b", func(pods map[string]*corev1.Pod) { delete(pods, "c") })
	c.scan("another next pod", "e", "b", add(newPod("e", "d", 4*time.Second)))
}

// TestChangesOfAnEvictionAreSignalled: the wait for a replacement wakes up when its state has changed, and only then.
func TestChangesOfAnEvictionAreSignalled(t *testing.T) {
	c := newTrackerCase(t)
	c.scan("no change", "", "", add())
	if c.notified(c.d1) || c.notified(c.d2) {
		t.Error("signal without a change")
	}
	c.scan("d1 is gone", "", "", func(pods map[string]*corev1.Pod) { delete(pods, "d1") })
	if _, gone := c.waves.replacementState(c.d1); !gone || !c.notified(c.d1) || c.notified(c.d2) {
		t.Errorf("after d1 has ended: gone %v, want one signal for d1 only", gone)
	}
	c.scan("a replacement", "a", "", add(newPod("a", "d", time.Second)))
	if !c.notified(c.d1) || c.notified(c.d2) {
		t.Error("after a replacement of d1: want one signal for d1 only")
	}
	c.waves.untrack(c.d1)
	c.scan("d1 is not tracked any more", "a", "b", add(newPod("b", "d", 2*time.Second)))
	if c.notified(c.d1) || !c.notified(c.d2) {
		t.Error("after the end of the first wait: want one signal for d2 only")
	}
}
