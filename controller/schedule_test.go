package controller_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// nodeEvents reports the events of a test.
type nodeEvents struct {
	mu      sync.Mutex
	ready   time.Time
	changed chan struct{}
}

func (e *nodeEvents) LastReady() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready
}

func (e *nodeEvents) Changed() <-chan struct{} { return e.changed }

func (e *nodeEvents) happen(ready time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ready = ready
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// scheduleRun is a controller that runs on its schedules with a fake clock.
type scheduleRun struct {
	*controller.Controller
	clock  *clocktesting.FakeClock
	events *nodeEvents
	store  *memoryStore

	mu     sync.Mutex
	passes []string // when each pass began
}

func newScheduleRun(t *testing.T, start string, strategies string) *scheduleRun {
	t.Helper()
	conf := loadConfig(t, "strategies:\n"+strategies+"\n")
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	r := &scheduleRun{Controller: c, clock: c.Clock.(*clocktesting.FakeClock), store: c.Store.(*memoryStore),
		events: &nodeEvents{changed: make(chan struct{}, 1)}}
	c.Strategies, c.NodeEvents = conf.BuildStrategies(), r.events
	at := must.Get(time.Parse(time.TimeOnly, start))(t)
	r.clock.SetTime(time.Date(2026, 1, 1, at.Hour(), at.Minute(), at.Second(), 0, time.UTC))
	c.OnReport = func(report plan.RunReport) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.passes = append(r.passes, report.Started.Format(time.TimeOnly))
	}
	return r
}

// lead lets the controller run for a time, second by second, and calls each second.
func (r *scheduleRun) lead(t *testing.T, length time.Duration, each func(now time.Time)) {
	t.Helper()
	stop := startLoop(t, r.Controller)
	for range int(length / time.Second) {
		synctest.Wait()
		r.clock.Step(time.Second)
		synctest.Wait()
		if each != nil {
			each(r.clock.Now())
		}
	}
	synctest.Wait()
	stop()
}

func (r *scheduleRun) expect(t *testing.T, passes ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.passes) != len(passes) {
		t.Fatalf("passes at %v, want %v", r.passes, passes)
	}
	for i := range passes {
		if r.passes[i] != passes[i] {
			t.Errorf("passes at %v, want %v", r.passes, passes)
		}
	}
}

const zonesOnEvents = `  zones: {type: ZoneSpread, onNodeReady: 5m}`

// A node joins: the strategy runs once, five minutes after the node turned Ready.
func TestANodeThatJoinsCausesOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "01:00:00", zonesOnEvents)
		r.lead(t, 2*time.Hour, func(now time.Time) {
			if now.Format(time.TimeOnly) == "01:10:40" {
				r.events.happen(now)
			}
		})
		r.expect(t, "01:15:40")
	})
}

// Strategies without onNodeReady store nothing.
func TestPlainSchedulesStoreNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "00:59:00", `  zones: {type: ZoneSpread, schedule: "0 * * * *"}`)
		r.lead(t, 2*time.Minute, nil)
		r.expect(t, "01:00:00")
		st, err := r.store.Load(t.Context())
		if err != nil || st.StrategyRuns != nil {
			t.Errorf("stored %v, %v", st.StrategyRuns, err)
		}
	})
}

// If the clock is set back while the controller waits, its schedules continue from the new time when it wakes.
func TestTheClockIsSetWhileTheControllerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "05:00:30", `  zones: {type: ZoneSpread, schedule: "0 12 * * *", onNodeReady: 24h}`)
		r.lead(t, 3*time.Minute, func(now time.Time) {
			if now.Format(time.TimeOnly) == "05:01:00" {
				r.clock.SetTime(now.Add(-17*time.Hour - 2*time.Minute)) // 11:59 the day before
				r.events.happen(now)                                    // wakes it; the timers of a fake clock do not
			}
		})
		r.expect(t, "12:00:00")
	})
}

// The metrics get the times of the next passes, and the stored state before the first pass.
func TestTheMetricsKnowTheNextPassAndTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "01:05:00", "  zones: {type: ZoneSpread, schedule: '*/10 * * * *'}\n"+
			"  join: {type: ZoneSpread, onNodeReady: 5m}")
		now := r.clock.Now()
		storeState(t, r.Controller, plan.PlannerState{Breaker: &plan.BreakerTrip{At: now, Until: now.Add(time.Hour)}, Backoffs: []plan.Backoff{
			{Workload: plan.ObjectRef{Name: "a"}, Since: now, Until: now.Add(time.Minute), Failures: 1},
			{Workload: plan.ObjectRef{Name: "b"}, Since: now.Add(-time.Hour), Until: now, Failures: 1}}})
		recorder := r.Recorder.(*skipRecorder)
		r.lead(t, 10*time.Minute, func(at time.Time) {
			want := "01:10:00"
			if at.Format(time.TimeOnly) >= want {
				want = "01:20:00"
			}
			if len(recorder.next) != 1 || recorder.next["zones"].Format(time.TimeOnly) != want {
				t.Fatalf("at %s: the next passes are %v", at.Format(time.TimeOnly), recorder.next)
			}
			if at.Format(time.TimeOnly) == "01:05:01" && !slices.Equal(recorder.states, []string{"breaker open: true, back-off until 01:06:00, back-off until 01:05:00"}) {
				t.Errorf("before the first pass: %q", recorder.states)
			}
		})
		r.expect(t, "01:10:00")
	})
}
