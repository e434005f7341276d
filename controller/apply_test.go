package controller_test

import (
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// unlimitedPlanner implements Planner.Admit without limits.
type unlimitedPlanner struct{}

func (unlimitedPlanner) Admit(*cluster.Snapshot, plan.PlannerState, plan.Plan, time.Time) []plan.Outcome {
	return nil
}

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
	r, err := c.Apply(t.Context(), p, by)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.waves) != 2 || len(r.Outcomes) != 2 || r.Stopped != nil || r.Mode != plan.Live || r.Approval == nil || *r.Approval != by ||
		r.Plan.ID != p.ID {
		t.Errorf("%d waves, %+v", len(e.waves), r)
	}
}

// refusedPlanReports returns a report for every reason that makes a saved plan invalid.
func refusedPlanReports(t *testing.T) []plan.RunReport {
	t.Helper()
	var reports []plan.RunReport
	sealed := func(p plan.Plan) plan.Plan { p.ID = plan.ContentID(p); return p }
	for _, spoil := range []func(p *plan.Plan) (hash string){
		func(p *plan.Plan) string { p.Moves[0].Pod.Name = "other"; return p.ConfigHash },
		func(p *plan.Plan) string { p.Expires = p.TakenAt; *p = sealed(*p); return p.ConfigHash },
		func(p *plan.Plan) string { p.Cluster.UID = "c-2"; *p = sealed(*p); return p.ConfigHash },
		func(p *plan.Plan) string { return "0123456789abcdef" },
		func(p *plan.Plan) string { p.Moves[1].Step = 7; *p = sealed(*p); return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Pod = p.Moves[0].Pod; *p = sealed(*p); return p.ConfigHash },
		func(p *plan.Plan) string { p.Moves[1].Wave = 1 << 30; *p = sealed(*p); return p.ConfigHash },
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

func TestPlansThatAreNotCarriedOut(t *testing.T) {
	if n := len(refusedPlanReports(t)); n != 7 {
		t.Errorf("got %d refused plans, want 7", n)
	}
}

func TestLimitsHoldForApprovedPlansToo(t *testing.T) {
	c, e, p := savedPlan(t)
	p.Moves = append([]plan.Move{}, p.Moves...)
	c.Planner = limitedPlanner(t, "perPass: 1")
	r, err := c.Apply(t.Context(), p, by)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.waves) != 1 || len(r.Outcomes) != 2 || r.Outcomes[1].Reason.Code != plan.LimitPerPass {
		t.Errorf("%d waves, %+v", len(e.waves), r.Outcomes)
	}
}

func limitedPlanner(t *testing.T, limits string) controller.Planner {
	t.Helper()
	conf, err := config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nlimits: {"+limits+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return planner.New(conf.PlannerOptions())
}

// TestPlansWithUnknownStrategiesAreRefused checks that the names in a forged plan do not become labels of metrics: every
// label value takes memory until the process ends.
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
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
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
