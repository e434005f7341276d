package controller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestPlanningEnds: the end of the process ends planning, and nothing is evicted. The end of limits.maxPlanTime ends
// planning as well; the pass then uses the plan as it is.
func TestPlanningEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := &scriptedEvictor{}
	c, _ := newController(t, e, plan.Live)
	plannerOf := func(c *controller.Controller, during func()) controller.Planner {
		return changedPlanner{Planner: c.Planner, before: func(s *cluster.Snapshot, _ plan.PlannerState) {
			during()
			s.Work.Spend(1 << 20) // as much as in a large cluster, so that it looks at the time
		}}
	}
	c.Planner = plannerOf(c, cancel)
	r, err := c.RunOnce(ctx, nil)
	if !errors.Is(err, context.Canceled) || r.Stopped == nil || r.Stopped.Code != plan.Interrupted || len(e.waves) > 0 {
		t.Errorf("interrupted: error %v, stopped by %v, %d waves", err, r.Stopped, len(e.waves))
	}
	c, _ = newController(t, e, plan.Live)
	c.MaxPlanTime = time.Minute
	c.Planner = plannerOf(c, func() { c.Clock.(*clocktesting.FakeClock).Step(time.Minute) })
	r, err = c.RunOnce(t.Context(), nil)
	if err != nil || r.Stopped != nil || r.Plan.StoppedAt == 0 || r.Plan.SearchLimitReached == "" || len(e.waves) > 0 {
		t.Errorf("out of time: error %v, stopped by %v, the plan stopped at %d: %q", err, r.Stopped, r.Plan.StoppedAt, r.Plan.SearchLimitReached)
	}
}
