package evictor

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// A reload must not start an eviction earlier than either pacer allows.
func TestThePaceGoesOnWithAnotherEvictor(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct{ before, now, wantSeconds int }{
		{60, 60, 1}, {60, 6, 10}, {6, 60, 10}, {0, 60, 1}, {60, 0, 1},
	} {
		fake := clocktesting.NewFakeClock(start)
		before, now := &Live{pacer: newPacer(c.before, fake)}, &Live{pacer: newPacer(c.now, fake)}
		if !before.pacer.wait(t.Context()) {
			t.Fatal("no turn")
		}
		now.ContinueFrom(before)
		if want := start.Add(time.Duration(c.wantSeconds) * time.Second); !now.pacer.next.Equal(want) {
			t.Errorf("%d per minute, then %d: the next eviction at +%s, want +%ds", c.before, c.now, now.pacer.next.Sub(start), c.wantSeconds)
		}
	}
	unused := &Live{pacer: newPacer(6, clocktesting.NewFakeClock(start))}
	fresh := &Live{pacer: newPacer(60, clocktesting.NewFakeClock(start))}
	fresh.ContinueFrom(unused)
	if !fresh.pacer.next.IsZero() {
		t.Error("the pacer waits although the earlier evictor evicted nothing")
	}
}
