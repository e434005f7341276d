package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/record"
)

// approvalTest is a controller whose strategy zones is in mode approve, with objects in memory.
type approvalTest struct {
	*controller.Controller
	evictor   *reservationEvictor
	observer  *fixedObserver
	clock     *clocktesting.FakeClock
	client    *objects.Client
	server    *objectstest.Server
	events    *recordingEvents
	reports   []plan.RunReport
	announced []plan.WaitingPlan
}

func newApprovalTest(t *testing.T) *approvalTest {
	t.Helper()
	m := &memoryStore{}
	a := &approvalTest{evictor: &reservationEvictor{store: m}, events: &recordingEvents{}}
	c, o := newController(t, a.evictor, plan.Live)
	a.Controller, a.observer, a.clock = c, o, clocktesting.NewFakeClock(o.s.TakenAt)
	c.Store, c.ValidFor, c.Events, c.Clock = m, 24*time.Hour, a.events, betweenPassesClock{a.clock}
	a.client, a.server = withObjects(c)
	c.Resolver = resolver(podGone)
	c.OnReport = func(r plan.RunReport) {
		if a.reports = append(a.reports, r); r.Waiting == nil {
			return
		}
		for _, w := range r.Waiting.Plans {
			if w.Announced {
				a.announced = append(a.announced, w)
			}
		}
	}
	conf := loadConfig(t, "strategies:\n  zones: {type: ZoneSpread, schedule: '0 0 1 7 *', mode: approve}\n"+
		"  hot: {type: NodeLoad, schedule: '0 0 1 7 *', mode: approve, args: {target: {cpu: 0.9}}}\n")
	c.Planner, c.Strategies, c.ConfigHash = planner.New(conf.PlannerOptions()), conf.BuildStrategies(), conf.PlanHash()
	runs := 0
	c.NewRunID = func() string { runs++; return fmt.Sprint("r", runs) }
	return a
}

// plans returns the open plans as a person sees them.
func (a *approvalTest) plans(t *testing.T) waiting.Plans {
	t.Helper()
	return must.Get(waiting.New(a.client).Load(t.Context(), nil))(t)
}

// pass makes a pass and returns the plan that waits.
func (a *approvalTest) pass(t *testing.T) waiting.Plan {
	t.Helper()
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Moves) != 0 || len(r.Outcomes) != 0 {
		t.Fatalf("%v; a pass has %d moves and %d outcomes, want none", err, len(r.Plan.Moves), len(r.Outcomes))
	}
	p := a.plans(t)
	if len(p.Waiting) != 1 || len(p.Waiting[0].Moves) != 2 || p.Waiting[0].Foreign {
		t.Fatalf("plans %+v; want a plan of the release with two moves", p.Waiting)
	}
	if r.Waiting == nil || len(r.Waiting.Plans) != 1 || r.Waiting.Plans[0].ID != p.Waiting[0].Name {
		t.Errorf("the report has the waiting plans %+v", r.Waiting)
	}
	return p.Waiting[0]
}

// decide writes a decision about steps of a plan, as a person does, a second after the last one.
func (a *approvalTest) decide(t *testing.T, name string, verb waiting.Verb, by string, steps ...int) {
	t.Helper()
	a.clock.Step(time.Second)
	var c waiting.StepSelection
	for _, step := range steps {
		c.Steps = append(c.Steps, waiting.Range{First: step, Last: step})
	}
	must.Get(waiting.New(a.client).Decide(t.Context(), name, verb, c, by, a.clock.Now()))(t)
}

// claim claims the approved steps, as a process does before it executes them.
func (a *approvalTest) claim(t *testing.T, holder string) {
	t.Helper()
	s := waiting.New(a.client)
	p := must.Get(s.Update(t.Context(), nil, func(p waiting.Plans) (waiting.Plans, error) { return p.Register(a.clock.Now()), nil }))(t)
	must.Succeed(t, s.Claim(t.Context(), &p.Requests()[0], holder))
}

// lead looks for decisions a number of times, as the leader does between two passes.
func (a *approvalTest) lead(t *testing.T, checks int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	leader := a.Waiting
	a.Waiting = &endAfterChecks{leader, checks, cancel}
	a.Run(ctx)
	a.Waiting = leader
}

// report returns the last report of approved steps.
func (a *approvalTest) report(t *testing.T) plan.RunReport {
	t.Helper()
	for _, r := range slices.Backward(a.reports) {
		if r.Approval != nil {
			return r
		}
	}
	t.Fatal("no approved step was executed")
	return plan.RunReport{}
}

func (a *approvalTest) status(t *testing.T, name string) v1alpha1.RebalancePlanStatus {
	t.Helper()
	return must.Get(a.client.Plans.Get(t.Context(), name, metav1.GetOptions{}))(t).Status
}

func TestApprovedStepsAreExecuted(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	if len(a.announced) != 1 || len(a.events.waiting) != 1 || a.announced[0].Steps() != 2 || !a.announced[0].Announced {
		t.Errorf("announced %+v, events %+v", a.announced, a.events.waiting)
	}
	if again := a.pass(t); again.Name != w.Name || len(a.announced) != 1 {
		t.Errorf("the next pass has plan %s after %s, %d announcements", again.Name, w.Name, len(a.announced))
	}
	a.decide(t, w.Name, waiting.ToApprove, "alice", 2)
	a.lead(t, 2)
	r := a.report(t)
	if len(r.Outcomes) != 1 || r.Outcomes[0].Step != 2 || r.Outcomes[0].Outcome != plan.Evicted || r.Stopped != nil || r.Approval == nil ||
		r.Approval.WaitingPlan != w.Name || r.Approval.By != "alice" {
		t.Errorf("%+v", r)
	}
	if st := a.status(t, w.Name); st.Phase != v1alpha1.PhaseWaiting || st.Evicted != 1 || len(st.Steps) != 1 || st.Steps[0].DecidedBy != "alice" ||
		st.Steps[0].State != v1alpha1.StepEvicted || st.Attempts != 1 {
		t.Errorf("%+v", st)
	}
	again := waiting.StepSelection{Steps: []waiting.Range{{First: 2, Last: 2}}}
	if _, err := waiting.New(a.client).Decide(t.Context(), w.Name, waiting.ToApprove, again, "bob", a.clock.Now()); err == nil ||
		!strings.Contains(err.Error(), "step 2 cannot be chosen: it was executed after alice approved it at ") {
		t.Errorf("an executed step is approved again: %v", err)
	}
	a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
	a.lead(t, 2)
	counts := a.Recorder.(*skipRecorder)
	if want := map[string]int{"zones": 0, "hot": 0}; !maps.Equal(counts.waiting, want) {
		t.Errorf("after all moves were approved, the metrics get the waiting moves %v, want %v", counts.waiting, want)
	}
	if r := a.report(t); len(r.Outcomes) != 1 || r.Outcomes[0].Step != 1 || r.Outcomes[0].Outcome != plan.Evicted {
		t.Errorf("the second part: %+v", r)
	}
	if st := a.status(t, w.Name); st.Phase != v1alpha1.PhaseCompleted || st.Evicted != 2 || !st.Closed || len(a.evictor.waves) != 2 {
		t.Errorf("%d waves, want one for each part; %+v", len(a.evictor.waves), st)
	}
}

// TestASinglePassExecutesApprovedSteps: a job executes approved steps before its own pass.
func TestASinglePassExecutesApprovedSteps(t *testing.T) {
	a := newApprovalTest(t)
	a.decide(t, a.pass(t).Name, waiting.ToApprove, "alice", 1, 2)
	a.ExecuteApproved(t.Context())
	if r := a.report(t); len(r.Outcomes) != 2 || r.Stopped != nil {
		t.Errorf("%+v", r)
	}
}

// TestANewLeaderKnowsThePlansOfTheRelease: a process that takes over executes the steps of a plan that it did not make,
// and the plan is no foreign one. While nothing changes, a look reads only the names of plans.
func TestANewLeaderKnowsThePlansOfTheRelease(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	next := newApprovalTest(t)
	next.client, next.Store, next.Waiting = a.client, a.Store, waiting.New(a.client)
	next.evictor.store = a.evictor.store
	next.Records.Client = a.client
	next.lead(t, 2)
	clear(a.server.Calls)
	next.lead(t, 3)
	if n := calls(a.server); n != 3 || a.status(t, w.Name).Foreign {
		t.Errorf("%d calls in three looks (%v); the plan is foreign: %v", n, a.server.Calls, a.status(t, w.Name).Foreign)
	}
	next.decide(t, w.Name, waiting.ToApprove, "alice", 1)
	next.lead(t, 2)
	if r := next.report(t); len(r.Outcomes) != 1 || r.Outcomes[0].Outcome != plan.Evicted {
		t.Errorf("%+v", r)
	}
}

// TestAnApprovalKeepsItsPlan: a pass between the approval and its execution does not replace the plan.
func TestAnApprovalKeepsItsPlan(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
	real := a.Planner
	noProposals := changedPlanner{Planner: real, change: func(p *plan.Plan) {
		for i := range p.Proposals {
			p.Proposals[i].Plan.Moves = nil
		}
	}}
	a.Planner = noProposals
	if _, err := a.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if p := a.plans(t); len(p.Waiting) != 1 || p.Waiting[0].Name != w.Name {
		t.Errorf("plans %+v", p.Waiting)
	}
	a.Planner = real
	a.lead(t, 2)
	if r := a.report(t); len(r.Outcomes) != 1 || r.Stopped != nil {
		t.Errorf("%+v", r)
	}
	a.Planner = noProposals
	if r, err := a.RunOnce(t.Context(), nil); err != nil || r.Waiting != nil {
		t.Errorf("after the execution, the plan still waits: %v, %+v", err, r.Waiting)
	}
}

// TestAPlanStaysWithoutANewProposal: a pass in which no strategy in mode approve is due, or has data, proposes nothing.
func TestAPlanStaysWithoutANewProposal(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	if r, err := a.RunOnce(t.Context(), []string{}); err != nil || r.Waiting == nil || len(r.Waiting.Plans) != 1 || r.Waiting.Plans[0].ID != w.Name {
		t.Errorf("%v, %+v", err, r.Waiting)
	}
}

// TestApprovalsThatHaveNoEffect: steps of a plan that has expired, or that were discarded meanwhile, are not
// executed, and those of another configuration are refused.
func TestApprovalsThatHaveNoEffect(t *testing.T) {
	for name, change := range map[string]func(a *approvalTest, name string){
		"expired":               func(a *approvalTest, _ string) { a.clock.Step(24 * time.Hour) },
		"discarded":             func(a *approvalTest, name string) { a.decide(t, name, waiting.ToDiscard, "bob", 1) },
		"another configuration": func(a *approvalTest, _ string) { a.ConfigHash = "0123456789abcdef" },
	} {
		a := newApprovalTest(t)
		w := a.pass(t)
		a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
		change(a, w.Name)
		a.lead(t, 2)
		refused := len(a.events.refused) == 1 && strings.Contains(a.events.refused[0].Message, name)
		if st := a.status(t, w.Name); len(a.evictor.waves) != 0 || refused != (name == "another configuration") ||
			refused && (st.Phase != v1alpha1.PhaseRefused || st.Stopped == nil || !st.Closed) {
			t.Errorf("%s: %d waves, %+v, events %+v", name, len(a.evictor.waves), st, a.events.refused)
		}
	}
}

// TestDiscardedMovesAreNotProposedAgain: the next pass proposes other pods, and its report names the discarded ones.
// After the discard is undone, the same pods wait again.
func TestDiscardedMovesAreNotProposedAgain(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	a.decide(t, w.Name, waiting.ToDiscard, "bob")
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || r.Waiting == nil || len(r.Waiting.Discarded) != 2 || r.Waiting.Discarded[0].By != "bob" ||
		r.Waiting.Discarded[0].Pod != w.Moves[0].Pod.String() || !r.Waiting.Discarded[0].Until.Equal(a.clock.Now().Add(24*time.Hour).UTC()) {
		t.Fatalf("%v; the report has %+v", err, r.Waiting)
	}
	p := a.plans(t)
	if len(p.Waiting) != 1 {
		t.Fatalf("plans %+v, want one with other pods", p.Waiting)
	}
	for _, m := range p.Waiting[0].Moves {
		if m.Pod == w.Moves[0].Pod || m.Pod == w.Moves[1].Pod {
			t.Errorf("%s was discarded and is proposed again", m.Pod)
		}
	}
	a.decide(t, w.Name, waiting.ToUndo, "bob")
	if again := a.pass(t); again.Moves[0].Pod != w.Moves[0].Pod || again.Moves[1].Pod != w.Moves[1].Pod {
		t.Errorf("after the undo, %+v wait", again.Moves)
	}
}

// TestADiscardLeavesTheOtherApprovedSteps: a discard of one step after the approval leaves the others approved.
func TestADiscardLeavesTheOtherApprovedSteps(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	a.decide(t, w.Name, waiting.ToApprove, "alice", 1, 2)
	a.decide(t, w.Name, waiting.ToDiscard, "bob", 2)
	a.lead(t, 2)
	if r := a.report(t); len(r.Outcomes) != 1 || r.Stopped != nil || r.Outcomes[0].Outcome != plan.Evicted || len(a.evictor.waves) != 1 {
		t.Errorf("%d waves, %+v, %+v", len(a.evictor.waves), r.Stopped, r.Outcomes)
	}
	if st := a.status(t, w.Name); st.Phase != v1alpha1.PhaseCompleted || st.Closed || st.Steps[1].State != v1alpha1.StepDiscarded {
		t.Errorf("%+v; a plan with a discarded move stays open", st)
	}
}

// TestApprovedStepsAreNotExecutedWithoutDiscards: if the discarded moves cannot be read, no approved step is executed.
func TestApprovedStepsAreNotExecutedWithoutDiscards(t *testing.T) {
	a := newApprovalTest(t)
	a.decide(t, a.pass(t).Name, waiting.ToApprove, "alice", 1)
	a.Waiting = unreadableDiscards{a.Waiting}
	a.lead(t, 2)
	if r := a.report(t); r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable || len(a.evictor.waves) != 0 {
		t.Errorf("%d waves, %+v", len(a.evictor.waves), r.Stopped)
	}
}

type unreadableDiscards struct{ controller.WaitingPlans }

func (unreadableDiscards) Load(context.Context, []plan.StoredPlan) (waiting.Plans, error) {
	return waiting.Plans{}, errors.New("the API server does not answer")
}

// failingPlans cannot be read or changed.
type failingPlans struct {
	controller.WaitingPlans
	err error
}

func (f failingPlans) Load(context.Context, []plan.StoredPlan) (waiting.Plans, error) {
	return waiting.Plans{}, f.err
}

func (f failingPlans) Update(context.Context, []plan.StoredPlan, func(waiting.Plans) (waiting.Plans, error)) (waiting.Plans, error) {
	return waiting.Plans{}, f.err
}

// TestNoPlanWaits: a dry run, and a configuration without strategies in mode approve, keep no plan.
func TestNoPlanWaits(t *testing.T) {
	for name, change := range map[string]func(a *approvalTest){
		"dry run":            func(a *approvalTest) { a.Mode, a.Evictor = plan.DryRun, evictor.DryRun{} },
		"approvals disabled": func(a *approvalTest) { a.Waiting = nil },
		"only shown": func(a *approvalTest) {
			for i := range a.Strategies {
				a.Strategies[i].Mode = plan.ShowOnly
			}
		},
	} {
		a := newApprovalTest(t)
		change(a)
		r, err := a.RunOnce(t.Context(), nil)
		if err != nil || r.Waiting != nil {
			t.Errorf("%s: %v, %+v", name, err, r.Waiting)
		}
		if p := a.plans(t); len(p.Waiting) != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestForgedStrategiesAddNoLabels checks that a strategy name in a plan that somebody created never becomes the value
// of a metric label.
func TestForgedStrategiesAddNoLabels(t *testing.T) {
	a := newApprovalTest(t)
	m := metrics.New("v", "h")
	a.Recorder = m
	a.submit(t, &plan.Plan{ConfigHash: a.ConfigHash, Expires: a.clock.Now().Add(time.Hour), Moves: []plan.Move{{Strategy: "forged", Step: 1, Wave: 1,
		Pod: plan.PodRef{Name: "a", UID: "a"}}}})
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || r.Waiting == nil || len(r.Waiting.Plans) != 2 {
		t.Fatalf("%v, %+v; want the forged plan and that of the pass", err, r.Waiting)
	}
	a.decide(t, "saved", waiting.ToApprove, "alice", 1)
	a.lead(t, 2)
	if st := a.status(t, "saved"); st.Phase != v1alpha1.PhaseRefused || !st.Foreign || len(a.evictor.waves) != 0 {
		t.Errorf("%+v", st)
	}
	checkNoLabel(t, m, "forged")
}

// submit creates a plan, as a person does.
func (a *approvalTest) submit(t *testing.T, p *plan.Plan) {
	t.Helper()
	must.Get(a.client.Plans.Create(t.Context(), &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "saved"},
		Spec: record.Spec(p, v1alpha1.ModeAutomatic)}, metav1.CreateOptions{}))(t)
}
