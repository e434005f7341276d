package controller_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A pass that is stuck in a step is reported. A loop that waits for its schedule, and one that has ended, are not.
func TestAStuckPassIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newController(t, &scriptedEvictor{during: func() { time.Sleep(time.Hour) }}, plan.Live)
		c.Clock = clock.RealClock{} // the clock of the bubble
		c.StepTimeout = controller.StepTimeout(10*time.Minute, 5*time.Minute)
		stop := startLoop(t, c)
		check := func(when, want string) {
			t.Helper()
			synctest.Wait()
			err := c.CheckProgress()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", when, err, want)
			}
		}
		time.Sleep(59 * time.Minute) // the pass with moves is due after an hour
		check("before the pass", "")
		time.Sleep(45 * time.Minute)
		check("44 minutes after the beginning of a batch", "")
		time.Sleep(5 * time.Minute)
		check("49 minutes after the beginning of a batch", "no progress: executing a batch of evictions: 1 move of wave 1 of 2; 0 of 2 are done should have ended")
		stop()
		time.Sleep(24 * time.Hour)
		check("after the end", "")
	})
}

// deafTimers is a clock whose timers never fire.
type deafTimers struct{ *clocktesting.FakeClock }

func (deafTimers) NewTimer(time.Duration) clock.Timer {
	return clocktesting.NewFakeClock(time.Time{}).NewTimer(time.Hour)
}

// A loop that does not begin the next pass is reported.
func TestALoopThatMissesTheNextPassIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, o := newController(t, &scriptedEvictor{}, plan.Live)
		now := clocktesting.NewFakeClock(o.s.TakenAt)
		c.Clock = deafTimers{now}
		stop := startLoop(t, c)
		synctest.Wait()
		if err := c.CheckProgress(); err != nil {
			t.Errorf("before the pass: %v", err)
		}
		now.Step(time.Hour)
		if err := c.CheckProgress(); err == nil || !strings.Contains(err.Error(), "waiting for the next pass should have ended") {
			t.Errorf("an hour later: %v", err)
		}
		stop()
	})
}
