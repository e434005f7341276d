package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// The API server says how long a throttled client must wait: 1 to 32 s with API Priority and
// Fairness. If it names no time, the client waits for defaultThrottle.
const (
	maxThrottle     = 30 * time.Second
	defaultThrottle = time.Second
)

// throttle delays all evictions of a wave while the API server asks for it. All delays together may
// take at most maxThrottle, because the snapshot of the wave is older than the wave.
type throttle struct {
	clock       clock.WithTicker
	waveStarted time.Time

	mu            sync.Mutex
	until         time.Time
	total         time.Duration
	sawSlowAnswer bool // an answer took longer than callTimeout
}

// maxWaveAge is how long after the start of its wave an eviction may still begin once answers have
// been slow. Slow answers delay the evictions that wait for a free call. The limit is the time that the pacer needs plus the time
// that the API server may ask for.
const maxWaveAge = snapshotFreshness + maxThrottle

// recordLatency records how long an answer took.
func (h *throttle) recordLatency(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sawSlowAnswer = h.sawSlowAnswer || took > callTimeout
}

// stale reports whether answers were slow and the wave is older than maxWaveAge.
func (h *throttle) stale() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sawSlowAnswer && h.clock.Since(h.waveStarted) > maxWaveAge
}

// extend delays evictions for d from now. It returns false if the delays of the wave would exceed
// maxThrottle. Delays that overlap count once.
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

// remaining returns how long evictions are still delayed; 0 or less means that they are not.
func (h *throttle) remaining() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until.Sub(h.clock.Now())
}

// wait returns true once evictions are not delayed, and false if ctx ends first.
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
