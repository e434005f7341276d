package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixedObserver always returns the same snapshot.
type fixedObserver struct {
	s         *cluster.Snapshot
	err       error
	snapshots int
	before    func() // called before each snapshot; nil is allowed
}

func (o *fixedObserver) Snapshot(context.Context) (*cluster.Snapshot, error) {
	if o.before != nil {
		o.before()
	}
	o.snapshots++
	return o.s, o.err
}

// failAfter lets all snapshots after the first ones fail.
func (o *fixedObserver) failAfter(snapshots int, why error) {
	o.before = func() {
		if o.snapshots == snapshots {
			o.err = why
		}
	}
}

// scriptedEvictor returns the given results, one for each wave. Further waves are evicted completely.
type scriptedEvictor struct {
	results []evictor.Result
	waves   [][]plan.Move
	during  func() // called in each wave; nil is allowed
}

func (e *scriptedEvictor) EvictWave(_ context.Context, moves []plan.Move, _ func()) evictor.Result {
	e.waves = append(e.waves, moves)
	if e.during != nil {
		e.during()
	}
	if len(e.results) > 0 {
		r := e.results[0]
		e.results = e.results[1:]
		return r
	}
	var r evictor.Result
	for _, m := range moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted})
	}
	return r
}

// scriptedPlanner always makes the same plan, and nothing limits it. recheck is Recheck; if it is nil, each recheck
// accepts all moves.
type scriptedPlanner struct {
	plan    plan.Plan
	recheck func(p plan.Plan, wave int) ([]plan.Move, []plan.Outcome)
}

func (f scriptedPlanner) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	return f.plan
}

func (scriptedPlanner) CheckLimits(*cluster.Snapshot, plan.PlannerState, plan.Plan, time.Time) []plan.Outcome {
	return nil
}

func (scriptedPlanner) Replan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, []plan.Move, time.Time, time.Time) plan.Plan {
	return plan.Plan{}
}

func (f scriptedPlanner) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, p plan.Plan, wave int,
	_ time.Time) ([]plan.Move, []plan.Outcome) {
	if f.recheck == nil {
		return p.Moves, nil
	}
	return f.recheck(p, wave)
}

// changedPlanner calls before when it begins to plan, and changes the plan. Both may be nil.
type changedPlanner struct {
	controller.Planner
	before func(s *cluster.Snapshot, st plan.PlannerState)
	change func(p *plan.Plan)
}

func (c changedPlanner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	if c.before != nil {
		c.before(s, st)
	}
	p := c.Planner.Plan(s, st, goals, now)
	if c.change != nil {
		c.change(&p)
	}
	return p
}

type skipRecorder struct {
	skipped []string
	next    map[string]time.Time
	states  []string
	waiting map[string]int
}

func (*skipRecorder) RecordPass(plan.RunReport)                    {}
func (r *skipRecorder) RecordSkipped(s []string)                   { r.skipped = append(r.skipped, s...) }
func (r *skipRecorder) RecordNextPasses(next map[string]time.Time) { r.next = next }
func (r *skipRecorder) RecordState(open bool, backoffs []time.Time) {
	text := fmt.Sprintf("breaker open: %t", open)
	for _, until := range backoffs {
		text += ", back-off until " + until.Format(time.TimeOnly)
	}
	r.states = append(r.states, text)
}
func (r *skipRecorder) RecordWaiting(moves map[string]int) { r.waiting = moves }

// loadConfig returns the configuration with this text after its head.
func loadConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"+text)))(t)
	return conf
}

func newController(t *testing.T, e evictor.Evictor, mode plan.Mode) (*controller.Controller, *fixedObserver) {
	t.Helper()
	objects := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	conf := loadConfig(t, "strategies:\n  zones: {type: ZoneSpread, schedule: '0 * * * *'}\n"+
		"  hot: {order: 1, type: NodeLoad, schedule: '*/10 * * * *', args: {target: {cpu: 0.9}}}\n")
	o := &fixedObserver{s: snapshotOf(t, objects)}
	return &controller.Controller{
		Settings: controller.Settings{
			Planner: planner.New(conf.PlannerOptions()), Strategies: conf.BuildStrategies(), Mode: mode,
			History: history.Options{Initial: 10 * time.Minute},
		},
		Dependencies: controller.Dependencies{Observer: o, Evictor: e, Store: &memoryStore{}, Holder: "test",
			Clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)), Log: slog.New(uniqueKeys{t: t}),
			Recorder: &skipRecorder{}, NewRunID: func() string { return "r1" }, OnReport: func(plan.RunReport) {}},
	}, o
}

// startLoop runs the schedules of a controller until the result is called.
func startLoop(t *testing.T, c *controller.Controller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Run(ctx) }()
	return func() { cancel(); <-ended }
}

func TestRunOnceGoesWaveByWave(t *testing.T) {
	e := &scriptedEvictor{}
	c, o := newController(t, e, plan.Live)
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if len(e.waves) != 2 || len(r.Outcomes) != 2 || r.Stopped != nil || r.RunID != "r1" {
		t.Errorf("%d waves, %+v", len(e.waves), r.Outcomes)
	}
	if o.snapshots != 4 {
		t.Errorf("took %d snapshots, want one for the plan, one before each wave, and one at the end", o.snapshots)
	}
}

func TestDryRunIsThePlanNotCarriedOut(t *testing.T) {
	c, o := newController(t, evictor.DryRun{}, plan.DryRun)
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.WouldEvict || o.snapshots != 1 {
		t.Errorf("%+v", r.Outcomes)
	}
}

// A pass that cannot read the cluster, or that cannot predict on this server, could judge nothing. Each change of the
// causes is published, but an interrupted pass changes nothing.
func TestAPassThatJudgesNothingNamesTheCause(t *testing.T) {
	c, o := newController(t, &scriptedEvictor{}, plan.Live)
	events := &recordingEvents{}
	c.Events = events
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		ctx   context.Context
		err   error
		minor int
		want  []plan.Code
	}{
		{t.Context(), forbidden, 37, []plan.Code{plan.PermissionMissing}},
		{t.Context(), errors.New("no answer"), 37, []plan.Code{plan.APIError}},
		{ended, forbidden, 37, nil}, // publishes no event
		{t.Context(), nil, 20, []plan.Code{plan.UntrustedServerVersion}},
		{t.Context(), nil, 37, nil},
	} {
		o.err, o.s.ServerMinor = x.err, x.minor
		r, err := c.RunOnce(x.ctx, nil)
		var got []plan.Code
		for _, why := range r.Plan.NothingJudged {
			got = append(got, why.Code)
		}
		if (err != nil) != (x.err != nil) || !slices.Equal(got, x.want) {
			t.Errorf("%v on 1.%d: got error %v and causes %v, want %v", x.err, x.minor, err, got, x.want)
		}
	}
	for i, want := range []string{
		" -> pods is forbidden: no (PermissionMissing)",
		"pods is forbidden: no (PermissionMissing) -> no answer (APIError)",
		"no answer (APIError) -> no replacement can be predicted",
		"no replacement can be predicted",
	} {
		if len(events.judged) != 4 || !strings.HasPrefix(events.judged[i], want) {
			t.Fatalf("event %d does not begin with %q: %q", i, want, events.judged)
		}
	}
}

// Goals have the order of their strategies. Those of strategies that are not due are constraints.
func TestGoalsOfStrategies(t *testing.T) {
	c, o := newController(t, &scriptedEvictor{}, plan.Live)
	var order []string
	for _, g := range controller.Goals(o.s, c.Strategies, []string{"hot"}) {
		if g.Constraint != (g.Strategy == "zones") {
			t.Errorf("%s %s: got constraint %v", g.Strategy, g.Subject, g.Constraint)
		}
		if !slices.Contains(order, g.Strategy) {
			order = append(order, g.Strategy)
		}
	}
	if !slices.Equal(order, []string{"zones", "hot"}) {
		t.Error(order)
	}
}

// The test advances the clock through ten minutes.
func TestStrategiesFireOnTheirSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newController(t, evictor.DryRun{}, plan.DryRun)
		fake := c.Clock.(*clocktesting.FakeClock)
		fake.SetTime(time.Date(2026, 1, 1, 0, 49, 59, 0, time.UTC))
		reports := make(chan plan.RunReport)
		c.OnReport = func(r plan.RunReport) { reports <- r }
		stop := startLoop(t, c)
		next := func(d time.Duration) plan.RunReport {
			synctest.Wait()
			fake.Step(d)
			return <-reports
		}
		if r := next(time.Second); len(r.Plan.Moves) != 0 {
			t.Errorf("at 00:50 only strategy hot is due, but strategy zones moves %d pods", len(r.Plan.Moves))
		}
		if r := next(10 * time.Minute); len(r.Plan.Moves) != 2 {
			t.Errorf("at 01:00 both strategies are due; got %d moves, want 2", len(r.Plan.Moves))
		}
		stop()
	})
}

// The strategy hot has a cron schedule of ten minutes. The passes of hot must not postpone the
// other strategy, which runs @every 15m.
func TestAnEveryIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newController(t, evictor.DryRun{}, plan.DryRun)
		every := must.Get(cron.Parse("@every 15m", time.UTC))(t)
		c.Strategies[0].Firings = every
		fake := c.Clock.(*clocktesting.FakeClock)
		fake.SetTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		reports := make(chan plan.RunReport)
		c.OnReport = func(r plan.RunReport) { reports <- r }
		stop := startLoop(t, c)
		for i, want := range []struct {
			step  time.Duration
			moves int
		}{{10 * time.Minute, 0}, {5 * time.Minute, 2}, {5 * time.Minute, 0}, {10 * time.Minute, 2}} { // both strategies at 00:30
			synctest.Wait()
			fake.Step(want.step)
			if r := <-reports; len(r.Plan.Moves) != want.moves {
				t.Errorf("pass %d at %s moves %d pods, want %d", i+1, fake.Now().Format("15:04"), len(r.Plan.Moves), want.moves)
			}
		}
		stop()
	})
}

// An eviction that fails with a conflict may have consumed its disruption budget. For two minutes
// the planner plans no move that needs this budget.
func TestAConflictSpendsTheBudget(t *testing.T) {
	e := &scriptedEvictor{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Dropped}},
		BudgetsSpent: []plan.PodRef{{Namespace: "shop", Name: "d"}}, Stop: &plan.Reason{Code: plan.UIDChanged}}}}
	c, o := newController(t, e, plan.Live)
	o.s.Budgets = nil
	objects := o.s.Objects
	one := intstr.FromInt32(1)
	objects.PodDisruptionBudgets = append(objects.PodDisruptionBudgets,
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "d"},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "d"}},
				MaxUnavailable: &one},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 6, DesiredHealthy: 5, ExpectedPods: 6}})
	s := snapshotOf(t, objects)
	o.s = s
	c.Clock.(*clocktesting.FakeClock).SetTime(s.TakenAt)
	if r, err := c.RunOnce(t.Context(), nil); err != nil || len(r.Plan.Moves) != 2 {
		t.Fatalf("%d moves, %v", len(r.Plan.Moves), err)
	}
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Moves) != 0 || r.Plan.Rejections.Counts[plan.BlockedByPDB] == 0 {
		t.Errorf("got %d moves, rejections %v, error %v", len(r.Plan.Moves), r.Plan.Rejections.Counts, err)
	}
	s.TakenAt = s.TakenAt.Add(2*time.Minute - time.Nanosecond)
	if r, err := c.RunOnce(t.Context(), nil); err != nil || len(r.Plan.Moves) != 0 {
		t.Errorf("just before two minutes: got %d moves, error %v", len(r.Plan.Moves), err)
	}
	s.TakenAt = s.TakenAt.Add(time.Nanosecond)
	if r, err := c.RunOnce(t.Context(), nil); err != nil || len(r.Plan.Moves) != 2 {
		t.Errorf("after two minutes: got %d moves, error %v", len(r.Plan.Moves), err)
	}
}

// If the budgets that a conflict may have consumed cannot be read, the pass stops.
func TestUnreadableBudgetsAfterAConflictStopThePass(t *testing.T) {
	e := &scriptedEvictor{results: []evictor.Result{{
		Outcomes:     []plan.Outcome{{Step: 1, Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.UIDChanged}}},
		BudgetsSpent: []plan.PodRef{{Namespace: "shop", Name: "d"}}}}}
	c, o := newController(t, e, plan.Live)
	e.during = func() { o.err = errors.New("connection refused") }
	c.Clock.(*clocktesting.FakeClock).SetTime(o.s.TakenAt)
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(e.waves) != 1 || r.Stopped == nil ||
		r.Stopped.Message != "reading the budgets that refused evictions may have spent: connection refused" {
		t.Errorf("%d waves, stopped %+v, error %v", len(e.waves), r.Stopped, err)
	}
}
