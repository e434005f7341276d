package controller_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
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
