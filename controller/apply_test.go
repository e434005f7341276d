package controller_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/records"
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

// withObjects gives a controller objects in memory.
func withObjects(c *controller.Controller) (*objects.Client, *objectstest.Server) {
	client, server := objectstest.New(c.Clock)
	c.Waiting = waiting.New(client)
	c.Records = &records.Store{Client: client, Clock: c.Clock, Log: slog.New(slog.DiscardHandler), Version: "v1", Holder: c.Holder}
	return client, server
}

// apply stores a plan, approves all its steps, and executes them, as `evenkeel apply` does while no process leads.
func apply(ctx context.Context, t *testing.T, c *controller.Controller, p plan.Plan) (plan.RunReport, error) {
	t.Helper()
	storeApproved(t, c, p)
	return c.ExecuteStored(ctx, "saved")
}

// storeApproved stores a plan, and approves all its steps.
func storeApproved(t *testing.T, c *controller.Controller, p plan.Plan) {
	t.Helper()
	client, _ := withObjects(c)
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "saved"}, Spec: record.Spec(&p, v1alpha1.ModeAutomatic)}
	must.Get(client.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	must.Get(waiting.New(client).Decide(t.Context(), "saved", waiting.ToApprove, waiting.StepSelection{}, "alice", c.Clock.Now()))(t)
}

func TestAnApprovedPlanIsCarriedOut(t *testing.T) {
	c, e, p := savedPlan(t)
	r := must.Get(apply(t.Context(), t, c, p))(t)
	if len(e.waves) != 2 || len(r.Outcomes) != 2 || r.Stopped != nil || r.Mode != plan.Live || r.Approval == nil || r.Approval.By != "alice" ||
		r.Plan.ID != p.ID {
		t.Errorf("%d waves, %+v", len(e.waves), r)
	}
}

// A configuration that arrives while the decisions are read applies before the approved steps are executed.
func TestApprovedStepsWaitForANewConfiguration(t *testing.T) {
	c, e, p := savedPlan(t)
	storeApproved(t, c, p)
	changes := make(chan func(*controller.Controller), 1)
	changes <- func(*controller.Controller) {}
	c.Reloads = changes
	if c.ExecuteApproved(t.Context()); len(e.waves) != 0 {
		t.Errorf("%d waves before the new configuration applies, want none", len(e.waves))
	}
	<-changes
	if c.ExecuteApproved(t.Context()); len(e.waves) != 2 {
		t.Errorf("%d waves with the new configuration, want 2", len(e.waves))
	}
}

// refusedPlanReports returns a report for every reason that makes a saved plan invalid.
func refusedPlanReports(t *testing.T) []plan.RunReport {
	t.Helper()
	var reports []plan.RunReport
	for _, spoil := range []func(p *plan.Plan) (hash string){
		func(p *plan.Plan) string { p.Cluster.UID = "c-2"; return p.ConfigHash },
		func(p *plan.Plan) string { return "0123456789abcdef" },
		func(p *plan.Plan) string { p.Moves[1].Step = 1; return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Pod = p.Moves[0].Pod; return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Wave = 1 << 30; return p.ConfigHash },
	} {
		c, e, p := savedPlan(t)
		p.Moves = append([]plan.Move{}, p.Moves...)
		hash := spoil(&p)
		c.ConfigHash = hash
		r, err := apply(t.Context(), t, c, p)
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
	r := must.Get(apply(t.Context(), t, c, p))(t)
	if len(e.waves) != 1 || len(r.Outcomes) != 2 || r.Outcomes[1].Reason.Code != plan.LimitPerPass {
		t.Errorf("%d waves, %+v", len(e.waves), r.Outcomes)
	}
}

// TestPlansWithUnknownStrategiesAreRefused checks that the names in a forged plan do not become
// labels of metrics: every label value takes memory until the process ends.
func TestPlansWithUnknownStrategiesAreRefused(t *testing.T) {
	for name, forge := range map[string]func(p *plan.Plan){
		"of a move": func(p *plan.Plan) { p.Moves[0].Strategy = "forged" },
		"of a goal": func(p *plan.Plan) {
			p.Goals = append(slices.Clone(p.Goals), plan.Goal{ID: "x", Strategy: "forged", Kind: plan.NodeEmpty})
		},
	} {
		c, e, p := savedPlan(t)
		m := metrics.New("v", "h")
		c.Recorder = m
		p.Moves = slices.Clone(p.Moves)
		forge(&p)
		var published []plan.RunReport
		c.OnReport = func(r plan.RunReport) { published = append(published, r) }
		r, err := apply(t.Context(), t, c, p)
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
	if r, err := apply(t.Context(), t, c, p); err != nil || r.Stopped != nil {
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
		r, err := apply(t.Context(), t, c, p)
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

// TestOnlyClaimedPlansAreExecuted: a plan that this process cannot claim may be executed by another process. A dry run
// does not look for approved plans.
func TestOnlyClaimedPlansAreExecuted(t *testing.T) {
	for _, c := range []struct {
		mode     plan.Mode
		conflict bool
		executed bool
	}{{plan.Live, false, true}, {plan.Live, true, false}, {plan.DryRun, false, false}} {
		a := newApprovalTest(t)
		w := a.pass(t)
		a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
		writes := 0
		a.server.Fail = func(verb, resource, _ string) error {
			if verb == "update/status" && resource == "rebalanceplans" {
				writes++
			}
			if c.conflict && writes == 2 { // the first one registers the decision, and the second one claims the plan
				return errors.New("conflict")
			}
			return nil
		}
		clear(a.server.Calls)
		a.Mode = c.mode
		a.ExecuteApproved(t.Context())
		if executed := len(a.evictor.waves) > 0; executed != c.executed || c.mode == plan.DryRun && calls(a.server) != 0 {
			t.Errorf("%s, conflict %v: %d waves after %d calls", c.mode, c.conflict, len(a.evictor.waves), calls(a.server))
		}
	}
}
