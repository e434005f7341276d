package controller_test

import (
	"errors"
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
	mu           sync.Mutex
	added, ready time.Time
	changed      chan struct{}
}

func (e *nodeEvents) Latest() (added, ready time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.added, e.ready
}

func (e *nodeEvents) Changed() <-chan struct{} { return e.changed }

func (e *nodeEvents) happen(added, ready time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.added, e.ready = added, ready
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

const zonesOnEvents = `  zones: {type: ZoneSpread, on: {nodeAdded: 5m, nodeReady: 5m}}`

// A node joins: the strategy runs once, five minutes after the node turned Ready.
func TestANodeThatJoinsCausesOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "01:00:00", zonesOnEvents)
		var added time.Time
		r.lead(t, 2*time.Hour, func(now time.Time) {
			switch now.Format(time.TimeOnly) {
			case "01:10:00":
				added = now
				r.events.happen(added, time.Time{})
			case "01:10:40":
				r.events.happen(added, now)
			}
		})
		r.expect(t, "01:15:40")
	})
}

// A firing that came while no process led is made up for by one pass, with missed: once. Two leaders share the state.
func TestMissedFiringsAcrossLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const strategies = `  zones: {type: ZoneSpread, schedule: "*/10 * * * *", missed: once}`
		first := newScheduleRun(t, "01:05:00", strategies)
		first.lead(t, 10*time.Minute, nil)
		first.expect(t, "01:10:00")
		for start, passes := range map[string][]string{"01:17:00": {"01:20:00"}, "01:52:00": {"01:52:00", "02:00:00"}} {
			next := newScheduleRun(t, start, strategies)
			next.Store = &memoryStore{bytes: first.store.bytes}
			next.lead(t, 9*time.Minute, nil)
			next.expect(t, passes...)
		}
	})
}

// The time from which firings count is stored at once, so that the first firing may be missed, too.
func TestTheFirstFiringMayBeMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const strategies = `  zones: {type: ZoneSpread, schedule: "0 2 * * *", missed: once}`
		first := newScheduleRun(t, "01:05:00", strategies)
		first.lead(t, time.Minute, nil)
		first.expect(t)
		next := newScheduleRun(t, "03:00:00", strategies)
		next.Store = first.store
		next.lead(t, time.Minute, nil)
		next.expect(t, "03:00:00")
	})
}

// While the state cannot be read, the controller tries again every minute, and runs on its schedules. A pass that
// begins before keeps the times of earlier passes in the state: the firing of the strategy night at 02:00 was missed,
// and follows after the pass.
func TestUnreadableTimesOfPasses(t *testing.T) {
	const zones = `  zones: {type: ZoneSpread, schedule: "*/10 * * * *", missed: once}`
	for _, c := range []struct {
		strategies, start, readable string
		length                      time.Duration
		passes                      []string
	}{
		{zones, "01:25:00", "01:26:30", 4 * time.Minute, []string{"01:27:00"}},
		{zones + "\n" + `  night: {type: ZoneSpread, schedule: "0 2 * * *", missed: once}`, "03:05:00", "03:09:30", 9 * time.Minute,
			[]string{"03:10:00", "03:10:00"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := newScheduleRun(t, "01:05:00", c.strategies)
			first.lead(t, 10*time.Minute, nil)
			next := newScheduleRun(t, c.start, c.strategies)
			next.store.bytes, next.store.unreadable = first.store.bytes, errors.New("the API server does not answer")
			next.lead(t, c.length, func(now time.Time) {
				if now.Format(time.TimeOnly) == c.readable {
					next.store.unreadable = nil
				}
			})
			next.expect(t, c.passes...)
		})
	}
}

// Strategies without missed: once or events store nothing, as before.
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
		r := newScheduleRun(t, "05:00:30", `  zones: {type: ZoneSpread, schedule: "0 12 * * *", on: {nodeAdded: 24h}}`)
		r.lead(t, 3*time.Minute, func(now time.Time) {
			if now.Format(time.TimeOnly) == "05:01:00" {
				r.clock.SetTime(now.Add(-17*time.Hour - 2*time.Minute)) // 11:59 the day before
				r.events.happen(time.Time{}, now)                       // wakes it; the timers of a fake clock do not
			}
		})
		r.expect(t, "12:00:00")
	})
}

// The metrics get the times of the next passes, and the stored state before the first pass.
func TestTheMetricsKnowTheNextPassAndTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "01:05:00", "  zones: {type: ZoneSpread, schedule: '*/10 * * * *'}\n"+
			"  join: {type: ZoneSpread, on: {nodeAdded: 5m}}")
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
