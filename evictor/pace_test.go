package evictor

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestThePaceGoesOnWithAnotherEvictor: a reload between two evictions gives
// neither of them away.
func TestThePaceGoesOnWithAnotherEvictor(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct{ before, now, wantSeconds int }{
		{60, 60, 1}, {60, 6, 10}, {6, 60, 10}, {0, 60, 1}, {60, 0, 1},
	} {
		fake := clocktesting.NewFakeClock(start)
		before, now := &Live{pace: newPace(c.before, fake)}, &Live{pace: newPace(c.now, fake)}
		if !before.pace.wait(t.Context()) {
			t.Fatal("no turn")
		}
		now.Follow(before)
		if want := start.Add(time.Duration(c.wantSeconds) * time.Second); !now.pace.next.Equal(want) {
			t.Errorf("%d a minute, then %d: the next at +%s, want +%ds", c.before, c.now, now.pace.next.Sub(start), c.wantSeconds)
		}
	}
	unused := &Live{pace: newPace(6, clocktesting.NewFakeClock(start))}
	fresh := &Live{pace: newPace(60, clocktesting.NewFakeClock(start))}
	fresh.Follow(unused)
	if !fresh.pace.next.IsZero() {
		t.Error("an evictor that evicted nothing is waited for")
	}
}
