package evictor

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// hastyClock records the durations of timers, and lets every timer fire at once.
type hastyClock struct {
	clock.RealClock
	mu     sync.Mutex
	timers []time.Duration
}

func (c *hastyClock) NewTimer(d time.Duration) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = append(c.timers, d)
	return c.RealClock.NewTimer(0)
}

// TestTheWaitIsBounded checks that no grace period makes a move wait longer than MaxGracePeriod
// plus VerifyTimeout, which is one minute here, or give up before VerifyTimeout.
func TestTheWaitIsBounded(t *testing.T) {
	day := int64(24 * 60 * 60)
	for _, c := range []struct {
		name     string
		pod      int64
		override *int64
		most     time.Duration
		want     time.Duration
	}{
		{"an ordinary pod", 30, nil, 10 * time.Minute, 90 * time.Second},
		{"as long as allowed", 600, nil, 10 * time.Minute, 11 * time.Minute},
		{"a day", day, nil, 10 * time.Minute, 11 * time.Minute},
		{"beyond the range of a duration", 1e10, nil, 10 * time.Minute, 11 * time.Minute},
		{"the largest number", math.MaxInt64, nil, 10 * time.Minute, 11 * time.Minute},
		{"a negative number", math.MinInt64, nil, 10 * time.Minute, time.Minute},
		{"the override replaces the pod's own", day, new(int64(60)), 10 * time.Minute, 2 * time.Minute},
		{"the override is bounded too", 30, &day, 10 * time.Minute, 11 * time.Minute},
		{"without an option", day, nil, 0, DefaultMaxGracePeriod + time.Minute},
	} {
		w, fake := newFakeCluster(testPod("d1", "u1", "n3")), &hastyClock{}
		w.stays = true
		l := newTestLive(w, fake)
		l.opts.MaxGracePeriod, l.opts.GracePeriodSeconds = c.most, c.override
		m := testMove(1, "d1", "u1")
		m.GracePeriodSeconds = c.pod
		o := singleOutcome(t, l.EvictWave(t.Context(), []plan.Move{m}, nil))
		fake.mu.Lock()
		if longest := slices.Max(fake.timers); o.Reason.Code != plan.ReplacementNotReady || longest != c.want {
			t.Errorf("%s: waited %s and got %s, want %s", c.name, longest, o.Reason, c.want)
		}
		fake.mu.Unlock()
	}
}
