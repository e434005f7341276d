package controller_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// savedPlan returns the plan of a dry run, and a controller that can execute it.
func savedPlan(t *testing.T) (*controller.Controller, *reservationEvictor, plan.Plan) {
	t.Helper()
	m := &memoryStore{}
	e := &reservationEvictor{store: m}
	c, o := newController(t, evictor.DryRun{}, plan.DryRun)
	c.Store = m
	c.Clock = clocktesting.NewFakeClock(o.s.TakenAt)
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Moves) != 2 {
		t.Fatalf("%v, %d moves", err, len(r.Plan.Moves))
	}
	c.Mode, c.Evictor, c.ConfigHash = plan.Live, e, r.Plan.ConfigHash
	return c, e, r.Plan
}

var by = plan.Approval{By: "alice", At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

func TestAnApprovedPlanIsCarriedOut(t *testing.T) {
	c, e, p := savedPlan(t)
	r := must.Get(c.Apply(t.Context(), p, by))(t)
	if len(e.waves) != 2 || len(r.Outcomes) != 2 || r.Stopped != nil || r.Mode != plan.Live || r.Approval == nil || *r.Approval != by ||
		r.Plan.ID != p.ID {
		t.Errorf("%d waves, %+v", len(e.waves), r)
	}
}

// refusedPlanReports returns a report for every reason that makes a saved plan invalid.
func refusedPlanReports(t *testing.T) []plan.RunReport {
	t.Helper()
	var reports []plan.RunReport
	for _, spoil := range []func(p *plan.Plan) (hash string){
		func(p *plan.Plan) string { p.Expires = p.TakenAt; return p.ConfigHash },
		func(p *plan.Plan) string { p.Cluster.UID = "c-2"; return p.ConfigHash },
		func(p *plan.Plan) string { return "0123456789abcdef" },
		func(p *plan.Plan) string { p.Moves[1].Step = 7; return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Pod = p.Moves[0].Pod; return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Wave = 1 << 30; return p.ConfigHash },
	} {
		c, e, p := savedPlan(t)
		p.Moves = append([]plan.Move{}, p.Moves...)
		hash := spoil(&p)
		c.ConfigHash = hash
		r, err := c.Apply(t.Context(), p, by)
		if err != nil || r.Stopped == nil || r.Stopped.Code != plan.PlanRefused || len(e.waves) != 0 || len(r.Outcomes) == 0 {
			t.Errorf("got error %v, stop reason %+v, %d waves", err, r.Stopped, len(e.waves))
			continue
		}
		reports = append(reports, r)
	}
	return reports
}

func TestLimitsHoldForApprovedPlansToo(t *testing.T) {
	c, e, p := savedPlan(t)
	p.Moves = append([]plan.Move{}, p.Moves...)
	c.Planner = planner.New(loadConfig(t, "limits: {perPass: 1}").PlannerOptions())
	r := must.Get(c.Apply(t.Context(), p, by))(t)
	if len(e.waves) != 1 || len(r.Outcomes) != 2 || r.Outcomes[1].Reason.Code != plan.LimitPerPass {
		t.Errorf("%d waves, %+v", len(e.waves), r.Outcomes)
	}
}

// TestPlansWithUnknownStrategiesAreRefused checks that the names in a forged plan do not become
// labels of metrics: every label value takes memory until the process ends.
func TestPlansWithUnknownStrategiesAreRefused(t *testing.T) {
	for name, forge := range map[string]func(p *plan.Plan){
		"of a move": func(p *plan.Plan) { p.Moves[0].Strategy = "forged" },
		"of a goal": func(p *plan.Plan) { p.Goals = append(slices.Clone(p.Goals), plan.Goal{ID: "x", Strategy: "forged"}) },
		"of a strategy": func(p *plan.Plan) {
			p.Strategies = append(slices.Clone(p.Strategies), plan.StrategyState{Name: "forged"})
		},
	} {
		c, e, p := savedPlan(t)
		m := metrics.New("v", "h")
		c.Recorder = m
		p.Moves = slices.Clone(p.Moves)
		forge(&p)
		p.ID = plan.ContentID(p)
		var published []plan.RunReport
		c.OnReport = func(r plan.RunReport) { published = append(published, r) }
		r, err := c.Apply(t.Context(), p, by)
		want := `strategy "forged" is not in the configuration; make a new plan`
		if err != nil || r.Stopped == nil || r.Stopped.Code != plan.PlanRefused || r.Stopped.Message != want || len(e.waves) != 0 || len(published) != 1 {
			t.Errorf("%s: error %v, stop reason %+v, %d waves, %d reports", name, err, r.Stopped, len(e.waves), len(published))
		}
		if r.Plan.ID != p.ID || !r.Plan.Expires.Equal(p.Expires) {
			t.Errorf("%s: the report is about plan %s, want %s", name, r.Plan.ID, p.ID)
		}
		checkNoLabel(t, m, "forged")
	}
}

// TestApprovedPlansSetNoPlanGauges checks that the gauges about the last plan are about plans of this process, because
// the codes and counts of a saved plan may be forged.
func TestApprovedPlansSetNoPlanGauges(t *testing.T) {
	c, _, p := savedPlan(t)
	m := metrics.New("v", "h")
	c.Recorder = m
	p.Rejections.Counts = map[plan.Code]int{"forged": 1}
	p.ID = plan.ContentID(p)
	if r, err := c.Apply(t.Context(), p, by); err != nil || r.Stopped != nil {
		t.Fatalf("%+v, %v", r.Stopped, err)
	}
	checkNoLabel(t, m, "forged")
}

func checkNoLabel(t *testing.T, m *metrics.Metrics, value string) {
	t.Helper()
	families := must.Get(m.Registry.Gather())(t)
	for _, f := range families {
		for _, x := range f.Metric {
			for _, l := range x.Label {
				if l.GetValue() == value {
					t.Errorf("metric %s has the label %s=%q", f.GetName(), l.GetName(), value)
				}
			}
		}
	}
}

// TestABlockStopsApprovedPlans: a pause, an open breaker, an older release or an alert stops an approved plan before
// its first eviction.
func TestABlockStopsApprovedPlans(t *testing.T) {
	for code, block := range map[plan.Code]func(c *controller.Controller, p plan.Plan){
		plan.Paused: func(c *controller.Controller, p plan.Plan) {
			storeState(t, c, plan.PlannerState{Pause: &plan.Pause{By: "bob", Reason: "release", Since: p.TakenAt}})
		},
		plan.BreakerOpen: func(c *controller.Controller, p plan.Plan) {
			storeState(t, c, plan.PlannerState{Breaker: &plan.BreakerTrip{At: p.TakenAt, Until: p.TakenAt.Add(time.Hour),
				Reason: plan.Reason{Code: plan.BreakerOpen, Message: "open"}}})
		},
		plan.OtherReleaseActive: func(c *controller.Controller, _ plan.Plan) {
			c.CheckOtherReleases = func(context.Context) *plan.Reason { return &plan.Reason{Code: plan.OtherReleaseActive, Message: "ops"} }
		},
		plan.AlertFiring: func(c *controller.Controller, _ plan.Plan) {
			c.FiringAlerts = func(context.Context) ([]string, error) { return []string{"KubeAPIDown"}, nil }
		},
	} {
		c, e, p := savedPlan(t)
		block(c, p)
		r, err := c.Apply(t.Context(), p, by)
		if err != nil || len(e.waves) != 0 || r.Stopped == nil || r.Stopped.Code != code || len(r.Outcomes) != 2 {
			t.Errorf("%s: %d waves, error %v, stop reason %+v, outcomes %+v", code, len(e.waves), err, r.Stopped, r.Outcomes)
		}
		for _, o := range r.Outcomes {
			if o.Outcome != plan.Dropped || o.Reason.Code != code {
				t.Errorf("step %d: %s: %s (%s), want %s (%s)", o.Step, o.Outcome, o.Reason.Message, o.Reason.Code, plan.Dropped, code)
			}
		}
	}
}

func storeState(t *testing.T, c *controller.Controller, st plan.PlannerState) {
	t.Helper()
	st.APIVersion, st.Kind = plan.APIVersion, plan.PlannerStateKind
	must.Succeed(t, c.Store.Save(t.Context(), st))
}

// oneRequest offers the same request at each check.
type oneRequest struct {
	request   approval.Request
	claim     error
	checks    int
	completed int
}

func (o *oneRequest) Pending(context.Context) (*approval.Request, error) {
	o.checks++
	return &o.request, nil
}

func (o *oneRequest) Unfinished(context.Context) (string, error) { return "", nil }

func (o *oneRequest) Claim(context.Context, *approval.Request, string) error { return o.claim }

func (o *oneRequest) Interrupt(context.Context, approval.Request, string) error { return nil }

func (o *oneRequest) Complete(context.Context, approval.Request, plan.RunReport) error {
	o.completed++
	return nil
}

// TestOnlyClaimedPlansAreExecuted: a plan that this process cannot claim may be executed by another process. A dry run
// does not look for approved plans.
func TestOnlyClaimedPlansAreExecuted(t *testing.T) {
	for _, c := range []struct {
		mode     plan.Mode
		claim    error
		executed bool
	}{{plan.Live, nil, true}, {plan.Live, errors.New("conflict"), false}, {plan.DryRun, nil, false}} {
		box := &oneRequest{claim: c.claim}
		waves := runWithRequests(t, box, c.mode)
		if executed := waves > 0; executed != c.executed || c.executed != (box.completed > 0) || c.mode == plan.DryRun && box.checks != 0 {
			t.Errorf("%s, claim error %v: %d waves, %d reports after %d checks", c.mode, c.claim, waves, box.completed, box.checks)
		}
	}
}

// endingClock is a betweenPassesClock that ends the run at the fourth timer. The controller starts
// one timer before each check for approved plans.
type endingClock struct {
	betweenPassesClock
	timers int
	end    context.CancelFunc
}

func (c *endingClock) NewTimer(d time.Duration) clock.Timer {
	if c.timers++; c.timers == 4 {
		c.end()
	}
	return c.betweenPassesClock.NewTimer(d)
}

// runWithRequests runs a controller between two passes and returns the number of executed waves.
func runWithRequests(t *testing.T, box *oneRequest, mode plan.Mode) int {
	t.Helper()
	c, e, p := savedPlan(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c.Clock = &endingClock{betweenPassesClock{c.Clock.(*clocktesting.FakeClock)}, 0, cancel}
	c.Mode, c.Approvals = mode, box
	box.request = approval.Request{Plan: p, ApprovedBy: by.By, ApprovedAt: by.At}
	runYearly(t, c)
	c.Run(ctx)
	return len(e.waves)
}
