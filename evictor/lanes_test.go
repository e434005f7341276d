package evictor

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

func TestLanesFollowTheAnswers(t *testing.T) {
	l := newLanes()
	answer := func(began, took time.Duration, throttled bool) {
		l.learn(noon.Add(began), noon.Add(began+took), throttled)
	}
	for range 10 {
		answer(0, 200*time.Millisecond, false)
	}
	if l.limit != lanesAtFirst+10 {
		t.Errorf("%d lanes after ten quick answers", l.limit)
	}
	answer(0, 700*time.Millisecond, false)
	if l.limit != lanesAtFirst+10 {
		t.Errorf("%d lanes after an answer that is neither quick nor slow", l.limit)
	}
	for range l.limit - 1 {
		answer(0, 200*time.Millisecond, false)
	}
	if l.limit != lanesAtFirst+10 {
		t.Errorf("%d lanes after less than a round of quick answers, the server having been busy", l.limit)
	}
	answer(0, 200*time.Millisecond, false)
	if l.limit != lanesAtFirst+11 {
		t.Errorf("%d lanes after a round of quick answers, want one more", l.limit)
	}
	answer(0, 2*time.Second, false)
	answer(time.Second, 2*time.Second, false) // was under way when the lanes were halved
	if l.limit != 21 {
		t.Errorf("%d lanes after slow answers of the same time, want half of 43", l.limit)
	}
	answer(4*time.Second, time.Millisecond, true)
	if l.limit != 10 {
		t.Errorf("%d lanes after a throttled answer, want half of 21", l.limit)
	}
	for i := range 10 {
		answer(time.Duration(10+10*i)*time.Second, 3*time.Second, false)
	}
	if l.limit != fewestLanes {
		t.Errorf("%d lanes, want no fewer than %d", l.limit, fewestLanes)
	}
	answer(0, 0, false) // began before the lanes were lowered
	if l.limit != fewestLanes || l.quickly != 0 {
		t.Errorf("a quick answer from before the last cut counts")
	}
	for range mostLanes * mostLanes {
		answer(200*time.Second, 0, false)
	}
	if l.limit != mostLanes {
		t.Errorf("%d lanes, want no more than %d", l.limit, mostLanes)
	}
}

func TestAFreedLaneGoesToTheFirstThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes()
		l.limit = 1
		if !l.enter(t.Context()) {
			t.Fatal("the first has to wait")
		}
		inLine := func(want int) {
			t.Helper()
			if synctest.Wait(); len(l.waiting) != want {
				t.Fatalf("%d wait for a lane, want %d", len(l.waiting), want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var gaveUp, got bool
		wg.Go(func() { gaveUp = !l.enter(ctx) })
		inLine(1)
		wg.Go(func() { got = l.enter(t.Context()) })
		inLine(2)
		cancel()
		inLine(1)
		l.leave()
		wg.Wait()
		if !gaveUp || !got || l.busy != 1 {
			t.Errorf("gave up %v, got %v, %d busy", gaveUp, got, l.busy)
		}
		l.leave()
		if l.busy != 0 || len(l.waiting) != 0 {
			t.Errorf("%d busy, %d waiting at the end", l.busy, len(l.waiting))
		}
	})
}

// countingAPI counts the evictions that are asked for at the same time; they are
// answered when there are so many.
type countingAPI struct {
	*fakeCluster
	mu        sync.Mutex
	now, most int
	target    int
	complete  chan struct{}
	once      sync.Once
}

func (c *countingAPI) get(ctx context.Context, ns, name string) (*corev1.Pod, error) {
	return c.fakeCluster.get(ctx, ns, name)
}

func (c *countingAPI) evict(ctx context.Context, e *policyv1.Eviction) error {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	if c.now == c.target {
		c.once.Do(func() { close(c.complete) })
	}
	c.mu.Unlock()
	select {
	case <-c.complete:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { c.mu.Lock(); c.now--; c.mu.Unlock() }()
	return c.fakeCluster.evict(ctx, e)
}

// TestEvictionsOfAWaveAreAskedForTogether: 32 at first, and never more than the
// lanes, however large the wave is.
func TestEvictionsOfAWaveAreAskedForTogether(t *testing.T) {
	const n = 300
	c := &countingAPI{fakeCluster: newFakeCluster(), target: lanesAtFirst, complete: make(chan struct{})}
	c.createReplacement = "n1"
	var moves []plan.Move
	for i := range n {
		name := fmt.Sprintf("d%d", i)
		c.pods[name] = testPod(name, "u"+name, "n3")
		moves = append(moves, testMove(i+1, name, "u"+name))
	}
	l := newTestLive(c.fakeCluster, clock.RealClock{})
	l = newLive(c, c, l.workloadOf, l.opts)
	r := l.EvictWave(t.Context(), moves, nil)
	taken := map[string]bool{}
	for _, o := range r.Outcomes {
		if o.Outcome != plan.Evicted || o.Replacement == nil || taken[o.Replacement.UID] {
			t.Fatalf("%+v", o)
		}
		taken[o.Replacement.UID] = true
	}
	if c.evictRequests != n || c.most < lanesAtFirst || c.most > mostLanes {
		t.Errorf("%d evictions, at most %d at once; want %d to %d", c.evictRequests, c.most, lanesAtFirst, mostLanes)
	}
}
