package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A server that is throttling says for how long (1 to 32 s by API Priority and
// Fairness); where it does not, it is asked again after a second.
const (
	maxThrottle     = 30 * time.Second
	defaultThrottle = time.Second
)

// throttle keeps back all evictions of a wave while the server asks for it, for
// maxHold in all: what the wave rests on was seen before it.
type throttle struct {
	clock       clock.WithTicker
	waveStarted time.Time // the wave

	mu            sync.Mutex
	until         time.Time
	total         time.Duration
	sawSlowAnswer bool // an answer took longer than callTimeout
}

// maxWaveAge is how long after its wave began an eviction may still begin where answers are
// slow, so that lanes come free late: no later than by its pace and by what the server
// asks for.
const maxWaveAge = snapshotFreshness + maxThrottle

// recordLatency takes note of how long an answer took.
func (h *throttle) recordLatency(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sawSlowAnswer = h.sawSlowAnswer || took > callTimeout
}

// stale says that what the wave rests on was seen too long ago.
func (h *throttle) stale() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sawSlowAnswer && h.clock.Since(h.waveStarted) > maxWaveAge
}

// extend takes note of an answer that asks to come back after d. It returns
// false when that would hold the wave back for too long. Answers that ask for
// the same seconds count once.
func (h *throttle) extend(d time.Duration) bool {
	if d <= 0 {
		d = defaultThrottle
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	from := now
	if h.until.After(now) {
		from = h.until
	}
	more := now.Add(d).Sub(from)
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

// remaining is how long evictions are still to be held back.
func (h *throttle) remaining() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until.Sub(h.clock.Now())
}

// wait returns true once nothing is held back, false when ctx ends first.
func (h *throttle) wait(ctx context.Context) bool {
	for {
		d := h.remaining()
		if d <= 0 {
			return ctx.Err() == nil
		}
		if !sleep(ctx, h.clock, d) {
			return false
		}
	}
}

func sleep(ctx context.Context, c clock.WithTicker, d time.Duration) bool {
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
