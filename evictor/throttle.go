package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/wait"
)

// maxThrottle is the longest total delay of a wave. An answer with status 429 may contain the time to wait. API
// Priority and Fairness asks for 1 to 32 s. If the answer contains no time, evictions are delayed for defaultThrottle.
const (
	maxThrottle     = 30 * time.Second
	defaultThrottle = time.Second
)

// throttle delays all evictions of a wave when the API server asks to slow down. The total delay is
// bounded because the snapshot of the wave becomes outdated meanwhile.
type throttle struct {
	clock       clock.WithTicker
	waveStarted time.Time
	maxAge      time.Duration // no eviction begins later than this after waveStarted

	mu    sync.Mutex
	until time.Time
	total time.Duration
}

// No eviction begins later than maxWaveAge after the start of its wave: the time for the pacer plus
// the longest delay that the API server may ask for. If evictor.perMinute is less than 4, the pacer
// may need up to maxInterval for a turn.
const (
	maxWaveAge      = snapshotFreshness + maxThrottle
	maxPacedWaveAge = maxInterval + maxThrottle
)

func (h *throttle) waveIsStale() bool { return h.clock.Since(h.waveStarted) > h.maxAge }

// extend delays evictions for d from now, or for defaultThrottle if d is not positive. Overlapping delays count once.
// If the total delay would exceed maxThrottle, it changes nothing and returns false.
func (h *throttle) extend(d time.Duration) bool {
	if d <= 0 {
		d = defaultThrottle
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	more := min(d, now.Add(d).Sub(h.until))
	if more <= 0 {
		return true
	}
	if h.total+more > maxThrottle {
		return false
	}
	h.total += more
	h.until = now.Add(d)
	return true
}

// remaining returns how long evictions are still delayed; 0 or less means that they are not delayed.
func (h *throttle) remaining() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until.Sub(h.clock.Now())
}

// wait waits until evictions are no longer delayed. wait returns false if ctx ends first.
func (h *throttle) wait(ctx context.Context) bool {
	for {
		d := h.remaining()
		if d <= 0 {
			return ctx.Err() == nil
		}
		if !wait.Sleep(ctx, h.clock, d) {
			return false
		}
	}
}

// maxInterval is the interval of evictor.perMinute 1, the lowest rate.
const maxInterval = time.Minute

// pacer spaces eviction requests evenly. Unused turns are not saved up. A turn lasts until its
// eviction is requested, and the interval counts from then, so that an eviction whose checks take
// long does not start beside the next one.
type pacer struct {
	interval time.Duration
	clock    clock.WithTicker
	turn     chan struct{} // holds the caller whose turn it is

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
	p := &pacer{clock: c, turn: make(chan struct{}, 1)}
	if perMinute > 0 {
		p.interval = maxInterval / time.Duration(perMinute)
	}
	return p
}

// maxWaveAge returns how long after the start of its wave an eviction may begin.
func (p *pacer) maxWaveAge() time.Duration { return max(maxWaveAge, p.interval+maxThrottle) }

// continueFrom delays the first turn of p until the longer interval of the two pacers has passed
// since the last turn of before.
func (p *pacer) continueFrom(before *pacer) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if !before.next.IsZero() {
		p.next = before.next.Add(max(p.interval-before.interval, 0))
	}
}

// begin waits for the caller's turn. Without a limit per minute, callers take no turns, and wait
// only for the interval of an earlier pacer. begin returns false if ctx ends first. After begin has
// returned true, the caller must call end.
func (p *pacer) begin(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if p.interval > 0 {
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	p.mu.Lock()
	delay := p.next.Sub(p.clock.Now())
	p.mu.Unlock()
	if !wait.Sleep(ctx, p.clock, delay) {
		p.end(false)
		return false
	}
	return true
}

// end ends the caller's turn. If the caller now requests an eviction, the next turn begins after the interval.
func (p *pacer) end(requests bool) {
	if requests {
		p.mu.Lock()
		p.next = p.clock.Now().Add(p.interval)
		p.mu.Unlock()
	}
	if p.interval > 0 {
		<-p.turn
	}
}
