package controller_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// reloadWithSchedule returns a function that applies a configuration with one strategy on a schedule.
func reloadWithSchedule(t *testing.T, schedule string, then func(*controller.Controller)) func(*controller.Controller) {
	t.Helper()
	conf := loadConfig(t, "strategies:\n  other: {type: ZoneSpread, schedule: '"+schedule+"'}\n")
	return func(c *controller.Controller) {
		c.Planner, c.Strategies = planner.New(conf.PlannerOptions()), conf.BuildStrategies()
		if then != nil {
			then(c)
		}
	}
}

// newReloadingController runs a controller. Its clock starts at 00:59:30.
func newReloadingController(t *testing.T, e evictor.Evictor) (c *controller.Controller, fake *clocktesting.FakeClock,
	reports chan plan.RunReport, start func()) {
	t.Helper()
	c, _ = newController(t, e, plan.DryRun)
	fake = c.Clock.(*clocktesting.FakeClock)
	fake.SetTime(time.Date(2026, 1, 1, 0, 59, 30, 0, time.UTC))
	reports = make(chan plan.RunReport)
	c.OnReport = func(r plan.RunReport) { reports <- r }
	return c, fake, reports, func() {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil { // as a leader does
				c.Run(ctx)
			}
		}()
		t.Cleanup(func() { cancel(); <-ended })
	}
}

// A changed schedule wakes the controller, even if it had no schedule before.
func TestAChangedScheduleWakesTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, fake, reports, start := newReloadingController(t, evictor.DryRun{})
		c.Strategies = nil
		changes := make(chan func(*controller.Controller))
		c.Reloads = changes
		start()
		changes <- reloadWithSchedule(t, "* * * * *", nil)
		synctest.Wait()
		fake.Step(30 * time.Second)
		if r := <-reports; len(r.Plan.Goals) == 0 || r.Plan.Goals[0].Strategy != "other" {
			t.Errorf("got goals %+v, want those of the new strategy", r.Plan.Goals)
		}
	})
}

// If a new configuration arrives when a pass is due, the controller runs this pass with the new configuration.
func TestAPassThatIsDueIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, fake, reports, start := newReloadingController(t, evictor.DryRun{})
		changes := make(chan func(*controller.Controller), 1)
		c.Reloads = changes
		took := make(chan bool, 1)
		start()
		synctest.Wait()
		fake.SetTime(time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC).Add(-time.Nanosecond))
		changes <- reloadWithSchedule(t, "0 * * * *", func(*controller.Controller) {
			fake.SetTime(time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC))
			took <- true
		})
		<-took
		synctest.Wait()
		fake.Step(0)
		select {
		case r := <-reports:
			if r.Plan.Goals[0].Strategy != "other" {
				t.Errorf("goals %+v", r.Plan.Goals)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the pass that was due when the configuration changed did not run")
		}
	})
}

// A pass of two waves keeps its configuration although the configuration changes during the first wave.
func TestAPassEndsWithTheConfigurationItBeganWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := make(chan func(*controller.Controller), 1)
		e := &scriptedEvictor{}
		c, fake, reports, start := newReloadingController(t, e)
		c.Mode = plan.Live
		c.Reloads = changes
		e.during = func() {
			e.during = nil
			changes <- reloadWithSchedule(t, "30 * * * *", func(c *controller.Controller) { c.Mode, c.Evictor = plan.DryRun, evictor.DryRun{} })
		}
		start()
		synctest.Wait()
		fake.Step(30 * time.Second)
		if r := <-reports; r.Mode != plan.Live || len(r.Outcomes) != 2 || r.Outcomes[1].Outcome != plan.Evicted {
			t.Errorf("got mode %s, outcomes %+v; want both waves executed", r.Mode, r.Outcomes)
		}
		synctest.Wait()
		fake.Step(30 * time.Minute)
		if r := <-reports; r.Mode != plan.DryRun || len(e.waves) != 2 {
			t.Errorf("after the change: got mode %s, %d waves; want a dry run", r.Mode, len(e.waves))
		}
	})
}

func TestReportsNameWhatIsRefused(t *testing.T) {
	c, _ := newController(t, evictor.DryRun{}, plan.DryRun)
	c.RefusedInputs = func() []plan.Input {
		return []plan.Input{{Source: "config", Age: "5s", Problems: []string{"line 3"}}}
	}
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(r.Inputs) != 1 || r.Inputs[0].Source != "config" {
		t.Errorf("inputs %+v, %v", r.Inputs, err)
	}
}
