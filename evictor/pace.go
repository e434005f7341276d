package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pace spaces evictions evenly: perMinute of them, none saved up.
type pace struct {
	every time.Duration
	clock clock.WithTicker

	mu   sync.Mutex
	next time.Time
}

// freshFor is how long a look at the cluster may lie back when an eviction that
// rests on it begins.
const freshFor = 15 * time.Second

// AtOnce is how many evictions a pace lets begin while a look at the cluster is
// fresh, at least one; 0 without a pace.
func AtOnce(perMinute int) int {
	if perMinute <= 0 {
		return 0
	}
	return max(1, int(int64(perMinute)*int64(freshFor)/int64(time.Minute)))
}

func newPace(perMinute int, c clock.WithTicker) *pace {
	p := &pace{clock: c}
	if perMinute > 0 {
		p.every = time.Minute / time.Duration(perMinute)
	}
	return p
}

// after lets the first turn come when it would have come after the last one of
// before, by the slower of both paces.
func (p *pace) after(before *pace) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if !before.next.IsZero() {
		p.next = before.next.Add(max(p.every-before.every, 0))
	}
}

// wait returns true when it is the caller's turn, false when ctx ends first.
func (p *pace) wait(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.mu.Lock()
	now := p.clock.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(p.every)
	p.mu.Unlock()
	if !at.After(now) {
		return true
	}
	t := p.clock.NewTimer(at.Sub(now))
	defer t.Stop()
	select {
	case <-t.C():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
