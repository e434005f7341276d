package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pacer spaces evictions evenly: perMinute of them, none saved up.
type pacer struct {
	interval time.Duration
	clock    clock.WithTicker

	mu   sync.Mutex
	next time.Time
}

// snapshotFreshness is how long a look at the cluster may lie back when an eviction that
// rests on it begins.
const snapshotFreshness = 15 * time.Second

// BatchSize is how many evictions a pace lets begin while a look at the cluster is
// fresh, at least one; 0 without a pace.
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

// continueFrom lets the first turn come when it would have come after the last one of
// before, by the slower of both paces.
func (p *pacer) continueFrom(before *pacer) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if !before.next.IsZero() {
		p.next = before.next.Add(max(p.interval-before.interval, 0))
	}
}

// wait returns true when it is the caller's turn, false when ctx ends first.
func (p *pacer) wait(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.mu.Lock()
	now := p.clock.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.interval)
	p.mu.Unlock()
	if !at.After(now) {
		return true
	}
	return sleep(ctx, p.clock, at.Sub(now))
}
