package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/wait"
)

// pacer spaces evictions evenly. Unused turns are not saved up.
type pacer struct {
	interval time.Duration
	clock    clock.WithTicker

	mu   sync.Mutex
	next time.Time
}

// snapshotFreshness is the maximum age of a snapshot when an eviction that depends on it begins.
const snapshotFreshness = 15 * time.Second

// BatchSize returns the number of evictions that a pacer starts within snapshotFreshness, but at
// least 1. If perMinute is not positive, BatchSize returns 0, which means no limit.
func BatchSize(perMinute int) int {
	if perMinute <= 0 {
		return 0
	}
	return max(1, int(int64(perMinute)*int64(snapshotFreshness)/int64(time.Minute)))
}

func newPacer(perMinute int, c clock.WithTicker) *pacer {
	p := &pacer{clock: c}
	if perMinute > 0 {
		p.interval = time.Minute / time.Duration(perMinute)
	}
	return p
}

// continueFrom delays the first turn of p until the longer interval of the two pacers has passed
// since the last turn of before.
func (p *pacer) continueFrom(before *pacer) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if !before.next.IsZero() {
		p.next = before.next.Add(max(p.interval-before.interval, 0))
	}
}

// wait returns true when it is the caller's turn, and false if ctx ends first.
func (p *pacer) wait(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.mu.Lock()
	now := p.clock.Now()
	delay := max(p.next.Sub(now), 0)
	p.next = now.Add(delay + p.interval)
	p.mu.Unlock()
	return wait.Sleep(ctx, p.clock, delay)
}
