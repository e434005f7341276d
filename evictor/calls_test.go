package evictor

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// countingAPI counts the evictions that are pending at the same time. It holds every
// eviction until `target` evictions are pending.
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

// In a large wave, exactly maxCalls evictions wait for answers at the same time.
func TestEvictionsOfAWaveAreAskedForTogether(t *testing.T) {
	const n = 300
	c := &countingAPI{fakeCluster: newFakeCluster(), target: maxCalls, complete: make(chan struct{})}
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
	if c.evictRequests != n || c.most != maxCalls {
		t.Errorf("got %d evictions, at most %d at once; want %d and %d", c.evictRequests, c.most, n, maxCalls)
	}
}
