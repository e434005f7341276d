package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// approvalTest is a controller whose strategy zones is in mode approve, with real stores and a fake API.
type approvalTest struct {
	*controller.Controller
	evictor   *reservationEvictor
	observer  *fixedObserver
	clock     *clocktesting.FakeClock
	box       *approval.Store
	plans     *waiting.Store
	events    *recordingEvents
	reports   []plan.RunReport
	announced []plan.WaitingPlan
}

func newApprovalTest(t *testing.T) *approvalTest {
	t.Helper()
	m := &memoryStore{}
	a := &approvalTest{evictor: &reservationEvictor{store: m}, events: &recordingEvents{}}
	c, o := newController(t, a.evictor, plan.Live)
	client := fake.NewClientset()
	a.Controller, a.observer, a.clock = c, o, clocktesting.NewFakeClock(o.s.TakenAt)
	a.box, a.plans = approval.New(client, "evenkeel"), waiting.New(client, "evenkeel")
	c.Store, c.Approvals, c.Waiting, c.ValidFor, c.Events = m, a.box, a.plans, 24*time.Hour, a.events
	c.Clock = betweenPassesClock{a.clock}
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
	conf := loadConfig(t, "strategies:\n- {name: zones, type: ZoneSpread, schedule: '0 0 1 7 *', mode: approve}\n"+
		"- {name: hot, type: NodeLoad, schedule: '0 0 1 7 *', mode: approve, args: {target: {cpu: 0.9}}}\n")
	c.Planner, c.Strategies, c.ConfigHash = planner.New(conf.PlannerOptions()), conf.BuildStrategies(), conf.PlanHash()
	runs := 0
	c.NewRunID = func() string { runs++; return fmt.Sprint("r", runs) }
	return a
}

// pass makes a pass and returns the plan that waits.
func (a *approvalTest) pass(t *testing.T) waiting.Plan {
	t.Helper()
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Moves) != 0 || len(r.Outcomes) != 0 {
		t.Fatalf("%v; a pass has %d moves and %d outcomes, want none", err, len(r.Plan.Moves), len(r.Outcomes))
	}
	p, err := a.plans.Load(t.Context())
	if err != nil || len(p.Waiting) != 1 || len(p.Waiting[0].Moves) != 2 {
		t.Fatalf("%v, plans %+v; want a plan with two moves", err, p.Waiting)
	}
	if r.Waiting == nil || len(r.Waiting.Plans) != 1 || r.Waiting.Plans[0].ID != p.Waiting[0].ID {
		t.Errorf("the report has the waiting plans %+v", r.Waiting)
	}
	return p.Waiting[0]
}

// approve submits steps of the plan, as `evenkeel approve` does.
func (a *approvalTest) approve(t *testing.T, w waiting.Plan, steps ...int) plan.Plan {
	t.Helper()
	part := w.Part(steps)
	must.Succeed(t, a.box.Submit(t.Context(), approval.Request{Plan: part, ApprovedBy: "alice", ApprovedAt: a.clock.Now().Truncate(time.Second),
		WaitingPlan: w.ID}))
	return part
}

// claim claims the pending request, as a process does before it executes the plan.
func (a *approvalTest) claim(t *testing.T, holder string) {
	t.Helper()
	r, err := a.box.Pending(t.Context())
	if err != nil || a.box.Claim(t.Context(), r, holder) != nil {
		t.Fatal(err)
	}
}

// lead looks for approved plans a number of times, as the leader does between two passes.
func (a *approvalTest) lead(t *testing.T, checks int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a.Approvals = &endAfterChecks{a.box, checks, cancel}
	a.Run(ctx)
	a.Approvals = a.box
}

func (a *approvalTest) report(t *testing.T, part plan.Plan) plan.RunReport {
	t.Helper()
	r, err := a.box.Report(t.Context(), part.ID)
	if err != nil || r == nil {
		t.Fatalf("report %+v (%v)", r, err)
	}
	return *r
}

func TestApprovedStepsAreExecuted(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	if len(a.announced) != 1 || len(a.events.waiting) != 1 || a.announced[0].Steps() != 2 || !a.announced[0].Announced {
		t.Errorf("announced %+v, events %+v", a.announced, a.events.waiting)
	}
	if again := a.pass(t); again.ID != w.ID || len(a.announced) != 1 {
		t.Errorf("the next pass has plan %s after %s, %d announcements", again.ID, w.ID, len(a.announced))
	}
	part := a.approve(t, w, 2)
	a.lead(t, 2)
	r := a.report(t, part)
	if len(r.Outcomes) != 1 || r.Outcomes[0].Step != 2 || r.Outcomes[0].Outcome != plan.Evicted || r.Stopped != nil || r.Approval == nil ||
		r.Approval.WaitingPlan != w.ID || r.Approval.By != "alice" {
		t.Errorf("%+v", r)
	}
	p, err := a.plans.Load(t.Context())
	if err != nil || p.Waiting[0].StateOf(2).State != waiting.Executed || p.Waiting[0].StateOf(1).State != waiting.Waiting {
		t.Errorf("%v, states %+v", err, p.Waiting[0].Decisions)
	}
	if _, _, err := p.Waiting[0].Choose(waiting.StepSelection{Steps: []waiting.Range{{First: 2, Last: 2}}}, true); err == nil ||
		!strings.Contains(err.Error(), "step 2 does not wait: it was executed after alice approved it at ") {
		t.Errorf("an executed step is approved again: %v", err)
	}
	counts := a.Recorder.(*skipRecorder)
	if want := map[string]int{"zones": 1, "hot": 0}; !maps.Equal(counts.waiting, want) {
		t.Errorf("the metrics get the waiting moves %v, want %v", counts.waiting, want)
	}
	part = a.approve(t, p.Waiting[0], 1)
	a.lead(t, 2)
	if counts.waiting["zones"] != 0 {
		t.Errorf("after all moves were approved, the metrics get the waiting moves %v", counts.waiting)
	}
	if r := a.report(t, part); len(r.Outcomes) != 1 || r.Outcomes[0].Step != 1 || r.Outcomes[0].Outcome != plan.Evicted {
		t.Errorf("the second part: %+v", r)
	}
	if len(a.evictor.waves) != 2 {
		t.Errorf("%d waves, want one for each part", len(a.evictor.waves))
	}
}

// TestASinglePassExecutesApprovedSteps: a job executes approved steps before its own pass, but no saved plan.
func TestASinglePassExecutesApprovedSteps(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	part := a.approve(t, w, 1, 2)
	a.ExecuteApproved(t.Context())
	if r := a.report(t, part); len(r.Outcomes) != 2 || r.Stopped != nil {
		t.Errorf("%+v", r)
	}
	c, e, saved := savedPlan(t)
	c.Approvals = a.box
	must.Succeed(t, a.box.Submit(t.Context(), approval.Request{Plan: saved, ApprovedBy: "alice", ApprovedAt: a.clock.Now()}))
	c.ExecuteApproved(t.Context())
	if len(e.waves) != 0 {
		t.Error("a single pass executes a plan of apply")
	}
}

// TestAnApprovalKeepsItsPlan: a pass between the approval and its execution does not replace the plan.
func TestAnApprovalKeepsItsPlan(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	part := a.approve(t, w, 1)
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
	if p, err := a.plans.Load(t.Context()); err != nil || len(p.Waiting) != 1 || p.Waiting[0].ID != w.ID {
		t.Errorf("%v, plans %+v", err, p.Waiting)
	}
	a.Planner = real
	a.lead(t, 2)
	if r := a.report(t, part); len(r.Outcomes) != 1 || r.Stopped != nil {
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
	if r, err := a.RunOnce(t.Context(), []string{}); err != nil || r.Waiting == nil || len(r.Waiting.Plans) != 1 || r.Waiting.Plans[0].ID != w.ID {
		t.Errorf("%v, %+v", err, r.Waiting)
	}
}

// TestForgedApprovalsAreRefused: the leader executes only steps of the plan that waits.
func TestForgedApprovalsAreRefused(t *testing.T) {
	for name, forge := range map[string]func(a *approvalTest, w *waiting.Plan, part *plan.Plan){
		"are not steps of":       func(_ *approvalTest, _ *waiting.Plan, part *plan.Plan) { part.Moves[0].From = "n9" },
		"no plan waits":          func(_ *approvalTest, w *waiting.Plan, _ *plan.Plan) { w.ID = "0123456789abcdef" },
		"it expired at":          func(a *approvalTest, _ *waiting.Plan, _ *plan.Plan) { a.clock.Step(24 * time.Hour) },
		"another configuration":  func(a *approvalTest, _ *waiting.Plan, _ *plan.Plan) { a.ConfigHash = "0123456789abcdef" },
		"was discarded by bob":   discardAll,
		"keeps no waiting plans": func(a *approvalTest, _ *waiting.Plan, _ *plan.Plan) { a.Waiting = nil },
	} {
		a := newApprovalTest(t)
		w := a.pass(t)
		part := w.Part([]int{1})
		forge(a, &w, &part)
		part.ID = plan.ContentID(part)
		must.Succeed(t, a.box.Submit(t.Context(), approval.Request{Plan: part, ApprovedBy: "mallory",
			ApprovedAt: a.clock.Now().Truncate(time.Second), WaitingPlan: w.ID}))
		a.lead(t, 2)
		r := a.report(t, part)
		if name == "no plan waits" {
			name = "no waiting plan has an ID that begins with"
		}
		if r.Stopped == nil || r.Stopped.Code != plan.PlanRefused || !strings.Contains(r.Stopped.Message, name) || len(a.evictor.waves) != 0 ||
			len(a.events.refused) != 1 || a.events.refused[0] != *r.Stopped {
			t.Errorf("%s: %d waves, report %+v, events %+v", name, len(a.evictor.waves), r.Stopped, a.events.refused)
		}
	}
}

func discardAll(a *approvalTest, w *waiting.Plan, _ *plan.Plan) {
	a.clock.Step(time.Second)
	_ = a.plans.Update(context.Background(), func(p waiting.Plans) (waiting.Plans, error) {
		done, err := p.Discard(w.ID, waiting.StepSelection{}, "bob", a.clock.Now())
		return done.Plans, err
	})
}

// discard discards steps of the plan, as `evenkeel discard` does, a second after the last decision.
func (a *approvalTest) discard(t *testing.T, w waiting.Plan, steps ...waiting.Range) {
	t.Helper()
	a.clock.Step(time.Second)
	must.Succeed(t, a.plans.Update(t.Context(), func(p waiting.Plans) (waiting.Plans, error) {
		done, err := p.Discard(w.ID, waiting.StepSelection{Steps: steps}, "bob", a.clock.Now())
		return done.Plans, err
	}))
}

// TestDiscardedMovesAreNotProposedAgain: the next pass proposes other pods, and its report names the discarded ones.
// After the discard is undone, the same pods wait again.
func TestDiscardedMovesAreNotProposedAgain(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	a.discard(t, w)
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || r.Waiting == nil || len(r.Waiting.Discarded) != 2 || r.Waiting.Discarded[0].By != "bob" ||
		r.Waiting.Discarded[0].Pod != w.Moves[0].Pod.String() || !r.Waiting.Discarded[0].Until.Equal(a.clock.Now().Add(24*time.Hour).UTC()) {
		t.Fatalf("%v; the report has %+v", err, r.Waiting)
	}
	p, err := a.plans.Load(t.Context())
	if err != nil || len(p.Waiting) != 1 {
		t.Fatalf("%v; plans %+v, want one with other pods", err, p.Waiting)
	}
	for _, m := range p.Waiting[0].Moves {
		if m.Pod == w.Moves[0].Pod || m.Pod == w.Moves[1].Pod {
			t.Errorf("%s was discarded and is proposed again", m.Pod)
		}
	}
	must.Succeed(t, a.plans.Update(t.Context(), func(p waiting.Plans) (waiting.Plans, error) {
		done, err := p.Undo(w.ID[:6], waiting.StepSelection{}, a.clock.Now())
		return done.Plans, err
	}))
	if again := a.pass(t); again.Moves[0].Pod != w.Moves[0].Pod || again.Moves[1].Pod != w.Moves[1].Pod {
		t.Errorf("after the undo, %+v wait", again.Moves)
	}
}

// TestADiscardLeavesTheOtherApprovedSteps: a discard of one step after the approval leaves the others approved.
func TestADiscardLeavesTheOtherApprovedSteps(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	part := a.approve(t, w, 1, 2)
	a.discard(t, w, waiting.Range{First: 2, Last: 2})
	a.lead(t, 2)
	r := a.report(t, part)
	if len(r.Outcomes) != 2 || r.Stopped != nil || r.Outcomes[0].Outcome != plan.Evicted || r.Outcomes[1].Outcome != plan.Dropped ||
		r.Outcomes[1].Reason.Code != plan.Discarded || len(a.evictor.waves) != 1 {
		t.Errorf("%d waves, %+v, %+v", len(a.evictor.waves), r.Stopped, r.Outcomes)
	}
}

// TestApprovedStepsAreNotExecutedWithoutDiscards: if the discarded moves cannot be read, no approved step is executed.
func TestApprovedStepsAreNotExecutedWithoutDiscards(t *testing.T) {
	a := newApprovalTest(t)
	part := a.approve(t, a.pass(t), 1)
	a.Waiting = unreadableDiscards{a.plans}
	a.lead(t, 2)
	if r := a.report(t, part); r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable || len(a.evictor.waves) != 0 {
		t.Errorf("%d waves, %+v", len(a.evictor.waves), r.Stopped)
	}
}

type unreadableDiscards struct{ *waiting.Store }

func (unreadableDiscards) Load(context.Context) (waiting.Plans, error) {
	return waiting.Plans{}, errors.New("the API server does not answer")
}

// failingPlans cannot be read or changed.
type failingPlans struct{ err error }

func (f failingPlans) Load(context.Context) (waiting.Plans, error) { return waiting.Plans{}, f.err }

func (f failingPlans) Update(context.Context, func(waiting.Plans) (waiting.Plans, error)) error {
	return f.err
}

// TestNoPlanWaits: a dry run, and a configuration without strategies in mode approve, keep no plan.
func TestNoPlanWaits(t *testing.T) {
	for name, change := range map[string]func(a *approvalTest){
		"dry run":            func(a *approvalTest) { a.Mode, a.Evictor = plan.DryRun, evictor.DryRun{} },
		"approvals disabled": func(a *approvalTest) { a.Approvals = nil },
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
		if p, err := a.plans.Load(t.Context()); err != nil || len(p.Waiting) != 0 {
			t.Errorf("%s: %v, %+v", name, err, p)
		}
	}
}

// TestForgedStrategiesAddNoLabels checks that a strategy name that another user wrote into the ConfigMap of the waiting
// plans never becomes the value of a metric label.
func TestForgedStrategiesAddNoLabels(t *testing.T) {
	a := newApprovalTest(t)
	m := metrics.New("v", "h")
	a.Recorder = m
	forged := waiting.Proposal{Strategies: []string{"forged"}, ConfigHash: a.ConfigHash, Now: a.clock.Now(), ValidFor: time.Hour,
		Plan: &plan.Plan{ConfigHash: a.ConfigHash, Moves: []plan.Move{{Strategy: "forged", Step: 1, Wave: 1, Pod: plan.PodRef{Name: "a", UID: "a"}}}}}
	must.Succeed(t, a.plans.Update(t.Context(), func(p waiting.Plans) (waiting.Plans, error) { p, _ = p.Keep(forged); return p, nil }))
	r, err := a.RunOnce(t.Context(), nil)
	if err != nil || r.Waiting == nil || len(r.Waiting.Plans) != 2 {
		t.Fatalf("%v, %+v; want the forged plan and that of the pass", err, r.Waiting)
	}
	checkNoLabel(t, m, "forged")
}
