package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// memoryStore keeps each saved state in its stored form.
type memoryStore struct {
	bytes       []byte
	unreadable  error
	failing     func(save int) error // nil lets every save succeed
	saves       int
	reservedNow int // reservations without outcome in the stored state
}

func (m *memoryStore) Load(context.Context) (plan.PlannerState, error) {
	var st plan.PlannerState
	if m.unreadable != nil || m.bytes == nil {
		return st, m.unreadable
	}
	return st, json.Unmarshal(m.bytes, &st)
}

func (m *memoryStore) Save(_ context.Context, st plan.PlannerState) (err error) {
	m.saves++
	if m.failing != nil {
		if err := m.failing(m.saves); err != nil {
			return err
		}
	}
	m.reservedNow = 0
	for _, run := range st.Runs {
		for _, r := range run.Reservations {
			if r.Outcome == nil {
				m.reservedNow++
			}
		}
	}
	m.bytes, err = json.Marshal(st)
	return err
}

func (m *memoryStore) decode(t *testing.T) plan.PlannerState {
	t.Helper()
	st := must.Get(m.Load(t.Context()))(t)
	return st
}

// reservationEvictor records the open reservations at the start of each wave.
type reservationEvictor struct {
	scriptedEvictor
	store    *memoryStore
	reserved []int
}

func (e *reservationEvictor) EvictWave(ctx context.Context, moves []plan.Move, bound func()) evictor.Result {
	e.reserved = append(e.reserved, e.store.reservedNow)
	r := e.scriptedEvictor.EvictWave(ctx, moves, bound)
	for i := range r.Outcomes {
		r.Outcomes[i].LandedAsPredicted = true
	}
	return r
}

func TestEvictionsAreNotedDownBeforeTheyAreMade(t *testing.T) {
	m := &memoryStore{}
	e := &reservationEvictor{store: m}
	c, _ := newController(t, e, plan.Live)
	c.Store = m
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.reserved, []int{1, 1}) {
		t.Errorf("got reservations %v at the start of the waves, want one each", e.reserved)
	}
	st := m.decode(t)
	if n := history.CountLastHour(st, c.Clock.Now()).Cluster; n != 2 || len(st.Runs) != 0 || len(st.Backoffs) != 0 {
		t.Errorf("after the pass: got %d evictions, state %+v", n, st)
	}
}

func TestWithoutMemoryNothingIsEvicted(t *testing.T) {
	down := errors.New("etcdserver: request timed out")
	e := &reservationEvictor{store: &memoryStore{}}
	c, _ := newController(t, e, plan.Live)
	c.Store = &memoryStore{unreadable: down}
	if _, err := c.RunOnce(t.Context(), nil); !errors.Is(err, down) || len(e.waves) != 0 {
		t.Errorf("failed load: got error %v, %d waves", err, len(e.waves))
	}
	c, _ = newController(t, e, plan.Live)
	useInstantTimers(c)
	c.Store = &memoryStore{failing: func(int) error { return down }}
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable || len(e.waves) != 0 || len(r.Outcomes) != 2 {
		t.Errorf("failed save: got error %v, stop reason %+v, %d waves", err, r.Stopped, len(e.waves))
	}
	c, _ = newController(t, evictor.DryRun{}, plan.DryRun)
	for _, m := range []*memoryStore{{}, {unreadable: down}} {
		c.Store = m
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil || len(r.Outcomes) != 2 || m.saves != 0 {
			t.Errorf("dry run: got error %v, %d outcomes, %d writes", err, len(r.Outcomes), m.saves)
		}
		if said := slices.ContainsFunc(r.Plan.Inputs, func(in plan.Input) bool {
			return in.Source == plan.PlannerStateSource && strings.HasSuffix(in.Problems[0], ": "+down.Error())
		}); said != (m.unreadable != nil) || said && plan.ContentID(r.Plan) != r.Plan.ID {
			t.Errorf("failed load with %v: the report mentions the failure: %v; inputs %+v", m.unreadable, said, r.Plan.Inputs)
		}
	}
}

func TestWhatCouldNotBeNotedDownIsNotedByTheNextPass(t *testing.T) {
	m := &memoryStore{failing: func(save int) error {
		if save == 1 {
			return nil
		}
		return errors.New("etcdserver: request timed out")
	}}
	e := &reservationEvictor{store: m}
	c, _ := newController(t, e, plan.Live)
	useInstantTimers(c)
	c.Store, c.Resolver = m, nothingOpen(t)
	var reports []plan.RunReport
	c.OnReport = func(r plan.RunReport) { reports = append(reports, r) }
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable || len(e.waves) != 1 {
		t.Fatalf("got error %v, stop reason %+v, %d waves", err, r.Stopped, len(e.waves))
	}
	if st := m.decode(t); len(st.Runs) != 1 || history.CountLastHour(st, c.Clock.Now()).Cluster != 1 {
		t.Fatalf("the reservation is lost: %+v", st)
	}
	m.failing = nil
	c.NewRunID = func() string { return "r2" }
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	st := m.decode(t)
	if n := history.CountLastHour(st, c.Clock.Now()).Cluster; n != 3 || len(st.Runs) != 0 || len(reports) != 2 || reports[1].RunID != "r2" {
		t.Errorf("got %d counted evictions, want 3; %d open runs; %d reports", n, len(st.Runs), len(reports))
	}
}

// resolver returns the outcome of each open reservation, without its step and pod.
type resolver func() (plan.Outcome, error)

func (f resolver) Resolve(_ context.Context, open []plan.Reservation) (out []plan.Outcome, err error) {
	for _, r := range open {
		o, err := f()
		if err != nil {
			return nil, err
		}
		o.Step, o.Pod = r.Step, r.Pod
		out = append(out, o)
	}
	return out, nil
}

func podGone() (plan.Outcome, error) {
	return plan.Outcome{Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.OutcomeUnknown, Message: "gone"}}, nil
}

// nothingOpen fails the test if the controller asks for any outcome, because all outcomes are recorded.
func nothingOpen(t *testing.T) resolver {
	return func() (plan.Outcome, error) {
		t.Error("the outcome of a reservation is asked for")
		return plan.Outcome{}, nil
	}
}

type recordingEvents struct {
	waiting       []plan.WaitingPlan
	notKept       []plan.Reason
	refused       []plan.Reason
	backoffs      []plan.Backoff
	before, after []plan.PlannerState // arguments of StateChanged
	judged        []string            // changes of the causes why passes could judge nothing, from the arguments of JudgedNothing
}

func (e *recordingEvents) BackedOff(b plan.Backoff) { e.backoffs = append(e.backoffs, b) }

func TestTheNextProcessReportsWhatTheLastCouldNot(t *testing.T) {
	m := &memoryStore{}
	e := &reservationEvictor{store: m}
	dead, o := newController(t, e, plan.Live)
	dead.Store, dead.Holder, dead.Clock = m, "dead-1", instantClock{clocktesting.NewFakeClock(o.s.TakenAt)}
	m.failing = func(save int) error { // the process is killed in its second wave, so it writes nothing more
		if save > 3 {
			return errors.New("killed")
		}
		return nil
	}
	if _, err := dead.RunOnce(t.Context(), nil); err != nil || len(e.waves) != 2 {
		t.Fatalf("%v, %d waves", err, len(e.waves))
	}

	m.failing = nil
	c, _ := newController(t, e, plan.Live)
	events := &recordingEvents{}
	c.Clock = dead.Clock
	c.Store, c.Resolver, c.Holder, c.Events = m, resolver(podGone), "next-2", events
	c.History = history.Options{Initial: history.MaxBackoff}
	c.NewRunID = func() string { return "r2" }
	var reports []plan.RunReport
	c.OnReport = func(r plan.RunReport) { reports = append(reports, r) }
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || reports[0].RunID != "r1" || reports[1].RunID != "r2" {
		t.Fatalf("reports: %+v", reports)
	}
	r := reports[0]
	if r.Recovery == nil || r.Recovery.Holder != "dead-1" || reports[1].Recovery != nil {
		t.Errorf("got recovery %+v, then %+v; want the run of dead-1, then none", r.Recovery, reports[1].Recovery)
	}
	if len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.Evicted || r.Outcomes[1].Outcome != plan.UnknownOutcome ||
		len(r.Plan.Moves) != 2 || r.Stopped == nil {
		t.Errorf("%+v", r)
	}
	st := m.decode(t)
	if len(st.Runs) != 0 || len(events.backoffs) != 1 || len(st.Backoffs) != 1 {
		t.Fatalf("got %d open runs, back-off events %+v, back-offs %+v", len(st.Runs), events.backoffs, st.Backoffs)
	}
	if len(reports[1].Plan.Moves) != 0 || reports[1].Plan.Rejections.Counts[plan.BackedOff] == 0 {
		t.Errorf("the pods of the workload are moved again: %+v", reports[1].Plan.Moves)
	}
	if _, rests := history.ActiveBackoff(st, st.Backoffs[0].Workload, c.Clock.Now()); !rests {
		t.Errorf("the workload does not back off: %+v", st.Backoffs)
	}
}

func (e *recordingEvents) PlanWaiting(w plan.WaitingPlan) { e.waiting = append(e.waiting, w) }

func (e *recordingEvents) PlanRefused(_ plan.Approval, why plan.Reason) {
	e.refused = append(e.refused, why)
}

func (e *recordingEvents) PlanNotKept(why plan.Reason) { e.notKept = append(e.notKept, why) }

func (e *recordingEvents) JudgedNothing(before, after plan.Plan) {
	e.judged = append(e.judged, before.NothingJudgedText()+" -> "+after.NothingJudgedText())
}

func (e *recordingEvents) StateChanged(before, after plan.PlannerState) {
	e.before, e.after = append(e.before, before), append(e.after, after)
}

// The first pass publishes a pause, and the second one its end.
func TestAPassPublishesWhatHasChangedSinceTheLast(t *testing.T) {
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	events := &recordingEvents{}
	c.Events = events
	for _, pause := range []*plan.Pause{{Since: c.Clock.Now(), By: "alice", Reason: "release 42"}, nil} {
		storeState(t, c, plan.PlannerState{Pause: pause})
		if _, err := c.RunOnce(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(events.after) != 2 || events.before[0].Pause != nil || events.after[0].Pause == nil ||
		events.before[1].Pause == nil || events.after[1].Pause != nil {
		t.Errorf("got events from %+v to %+v", events.before, events.after)
	}
}

// A trip of the breaker blocks the next pass even if the trip could not be saved. Failing
// writes are a common cause of a trip.
func TestATripHoldsTheNextPassAlsoWhenItCannotBeNotedDown(t *testing.T) {
	bad := func(step int) evictor.Result {
		return evictor.Result{Outcomes: []plan.Outcome{{Step: step, Outcome: plan.UnknownOutcome,
			Reason: plan.Reason{Code: plan.OutcomeUnknown, Message: "no answer"}}},
			Stop: &plan.Reason{Code: plan.OutcomeUnknown, Message: "no answer"}}
	}
	for name, failing := range map[string]func(int) error{
		"noted":     nil,
		"not noted": func(save int) error { return map[bool]error{true: errors.New("timed out")}[save > 1] },
	} {
		m := &memoryStore{failing: failing}
		r := bad(1)
		for step := 2; step <= 3; step++ { // the plan has one wave
			r.Outcomes = append(r.Outcomes, bad(step).Outcomes...)
		}
		e := &scriptedEvictor{results: []evictor.Result{r}}
		c, o := newController(t, e, plan.Live)
		c.Clock = instantClock{clocktesting.NewFakeClock(o.s.TakenAt)}
		c.Store, c.Resolver, c.Breaker = m, resolver(podGone), breaker.DefaultOptions()
		if r, err := c.RunOnce(t.Context(), nil); err != nil || r.Stopped == nil || r.Stopped.Code != plan.OutcomeUnknown {
			t.Fatalf("%s: %v, %+v", name, err, r.Stopped)
		}
		const shut, open = "breaker open: false", "breaker open: true"
		if states := c.Recorder.(*skipRecorder).states; !slices.Equal(states, []string{shut, open, open}) { // when it trips, and at the end
			t.Errorf("%s: the metrics got %q", name, states)
		}
		m.failing = nil
		c.NewRunID = func() string { return "r2" }
		if r, err := c.RunOnce(t.Context(), nil); err != nil || r.Stopped == nil || r.Stopped.Code != plan.BreakerOpen || len(e.waves) != 1 {
			t.Errorf("%s: the next pass: got error %v, stop reason %+v, %d waves", name, err, r.Stopped, len(e.waves))
		}
	}
}

// A process that has seen no bindings uses the stored counts of schedulers.
func TestCountsOfSchedulersAreTakenFromTheMemory(t *testing.T) {
	m := &memoryStore{bytes: []byte(`{"schedulers":{"fancy":{"seen":60,"predicted":60,"hits":59}}}`)}
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	c.Store = m
	c.Trust = &controller.SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, 100 }}
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := m.decode(t).Schedulers["fancy"].Hits; got != 59 {
		t.Errorf("got %d hits, want 59", got)
	}
}

var _ controller.StateStore = &memoryStore{}
