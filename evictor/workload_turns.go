package evictor

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel-project/evenkeel/plan"
)

// workloadTurns lets the moves of one workload take turns. A turn ends when the replacement of the
// evicted pod exists, or when the move ends. If the replacement is refused, for example by a
// ResourceQuota, the workload loses one pod only.
type workloadTurns struct {
	mu    sync.Mutex
	free  map[plan.ObjectRef]chan struct{} // has one element while no move has the turn
	owner map[int]plan.ObjectRef           // the workloads whose turn is taken, by step
}

func newWorkloadTurns() *workloadTurns {
	return &workloadTurns{free: map[plan.ObjectRef]chan struct{}{}, owner: map[int]plan.ObjectRef{}}
}

// begin waits for the turn of the move. begin returns false if ctx ends first.
func (t *workloadTurns) begin(ctx context.Context, m plan.Move) bool {
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

// end ends the turn of the move. It does nothing if the move does not have the turn.
func (t *workloadTurns) end(m plan.Move) {
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
	if !w.turns.begin(wave, m) || wave.Err() != nil {
		return newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop"), false
	}
	if l.opts.Clock.Since(begun) > 0 && h.waveIsStale() {
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, fmt.Sprintf(
			"not tried: it waited until the replacement of another pod of its workload existed, and the wave began more than %s ago",
			h.maxAge)), false
	}
	return attempt{}, true
}
