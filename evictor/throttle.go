package evictor

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// maxThrottle is the longest total delay of a wave. An answer with status 429 may contain the time
// to wait. API Priority and Fairness asks for 1 to 32 s. If the answer contains no time, evictions
// are delayed for defaultThrottle.
const (
	maxThrottle     = 30 * time.Second
	defaultThrottle = time.Second
)

// throttle delays all evictions of a wave when the API server asks to slow down. The total delay is
// bounded because the snapshot of the wave becomes outdated meanwhile.
type throttle struct {
	clock       clock.WithTicker
	waveStarted time.Time

	mu            sync.Mutex
	until         time.Time
	total         time.Duration
	sawSlowAnswer bool // an answer took longer than callTimeout
}

// maxWaveAge limits a wave in which an answer was slow: no eviction begins later than this after
// the start of the wave. Slow answers delay the evictions that wait for a free call. The limit is
// the time for the pacer plus the longest delay that the API server may ask for.
const maxWaveAge = snapshotFreshness + maxThrottle

// recordLatency records how long the API server took to answer.
func (h *throttle) recordLatency(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sawSlowAnswer = h.sawSlowAnswer || took > callTimeout
}

// waveIsStale reports whether answers were slow and the wave is older than maxWaveAge.
func (h *throttle) waveIsStale() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sawSlowAnswer && h.clock.Since(h.waveStarted) > maxWaveAge
}

// extend delays evictions for d from now, or for defaultThrottle if d is not positive.
// Overlapping delays count once. If the total delay would exceed maxThrottle, it changes
// nothing and returns false.
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

// remaining returns how long evictions are still delayed; 0 or less means that they are not
// delayed.
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
		if !sleep(ctx, h.clock, d) {
			return false
		}
	}
}
