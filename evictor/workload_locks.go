package evictor

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel-project/evenkeel/plan"
)

// workloadLocks has a lock for each workload, so that only one move of a workload evicts at a time. The move holds the
// lock until the replacement of the evicted pod exists, or until the move ends. So if the replacement is refused, for
// example by a ResourceQuota, the workload loses one pod only.
type workloadLocks struct {
	mu    sync.Mutex
	free  map[plan.ObjectRef]chan struct{} // has one element while no move holds the lock
	owner map[int]plan.ObjectRef           // the workloads whose lock is held, by step
}

func newWorkloadLocks() *workloadLocks {
	return &workloadLocks{free: map[plan.ObjectRef]chan struct{}{}, owner: map[int]plan.ObjectRef{}}
}

// acquire waits until the move holds the lock of its workload. It returns false if ctx ends first.
func (t *workloadLocks) acquire(ctx context.Context, m plan.Move) bool {
	if m.Owner == (plan.ObjectRef{}) {
		return true
	}
	t.mu.Lock()
	free := t.free[m.Owner]
	if free == nil {
		free = make(chan struct{}, 1)
		free <- struct{}{}
		t.free[m.Owner] = free
	}
	t.mu.Unlock()
	select {
	case <-free:
	case <-ctx.Done():
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owner[m.Step] = m.Owner
	return true
}

// release releases the lock that the move holds, if any.
func (t *workloadLocks) release(m plan.Move) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if owner, ok := t.owner[m.Step]; ok {
		delete(t.owner, m.Step)
		t.free[owner] <- struct{}{}
	}
}

// waitForWorkload waits until the replacements of earlier moves of the workload exist. If it returns false, the attempt
// has ended.
func (l *Live) waitForWorkload(wave context.Context, w *waveTracker, h *throttle, m plan.Move) (attempt, bool) {
	if m.Removal != "" { // no replacement follows
		return attempt{}, true
	}
	begun := l.opts.Clock.Now()
	if !w.locks.acquire(wave, m) || wave.Err() != nil {
		return newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop"), false
	}
	if l.opts.Clock.Since(begun) > 0 && h.waveIsStale() {
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, fmt.Sprintf(
			"not tried: it waited until the replacement of another pod of its workload existed, and the wave began more than %s ago",
			h.maxAge)), false
	}
	return attempt{}, true
}
