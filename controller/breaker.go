package controller

import (
	"context"
	"log/slog"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// updateSchedulerCounts takes over how well schedulers without a profile are foretold:
// as this process has seen it, where it has seen more than is remembered.
func (c *Controller) updateSchedulerCounts() {
	if c.Trust == nil {
		return
	}
	seen := c.Trust.Counts()
	if seen == nil {
		seen = map[string]plan.SchedulerBindings{}
	}
	for name, b := range c.state.Schedulers {
		if _, known := seen[name]; (known || len(seen) < plan.MaxSchedulers) && seen[name].Predicted < b.Predicted {
			seen[name] = b
		}
	}
	c.state.Schedulers = seen
}

// checkBreaker asks the breaker about the cluster as the pass finds it.
func (c *Controller) checkBreaker(s *cluster.Snapshot) {
	if c.breakerReason = c.Breaker.Holds(c.state.Breaker, s, c.Clock.Now()); c.breakerReason == nil {
		c.state.Breaker = nil
	}
	c.breakerBaseline = breaker.Baseline(s)
	if c.state.Breaker == nil {
		c.breakerReason = c.tripBreaker(c.Breaker.Watch(s, c.breakerBaseline))
	}
}

// blockedReason says why a pass that would evict must not; dry runs go on.
func (c *Controller) blockedReason() *plan.Reason {
	switch {
	case c.Mode != plan.Live:
		return nil
	case c.state.Pause != nil:
		r := c.state.Pause.Block().Reason
		return &r
	}
	return c.breakerReason
}

// tripBreaker stops the pass where the breaker says so, and holds the next. The first
// trip of a pass stands.
func (c *Controller) tripBreaker(t *plan.BreakerTrip) *plan.Reason {
	switch {
	case t == nil:
		return nil
	case c.state.Breaker != nil:
		return &c.state.Breaker.Reason
	}
	c.state.Breaker = t
	c.Log.Error("the breaker tripped; no pod is evicted until it is clear", "reason", t.Reason.Message, "until", t.Until)
	return &t.Reason
}

// measureBenefit compares what the evictions of the pass brought with what they were
// foretold to bring, and looks at the cluster once more for the breaker.
func (c *Controller) measureBenefit(ctx context.Context, log *slog.Logger, report *plan.RunReport, before planner.GoalState, due []string) {
	evicted := false
	for _, o := range report.Outcomes {
		evicted = evicted || o.Outcome == plan.Evicted
	}
	if c.Mode != plan.Live || !evicted {
		return
	}
	s, err := c.Observer.Snapshot(context.WithoutCancel(ctx))
	if err != nil {
		log.Warn("what the evictions brought is not known", "error", err)
		return
	}
	gains := planner.Gains(before, report.Plan, report.Outcomes, planner.GoalState{Snapshot: s, Goals: Goals(s, c.Strategies, due)})
	c.state = history.AddBenefit(c.state, gains, c.strategyNames(), c.Clock.Now(), c.Benefits)
	if c.state.Breaker != nil {
		return
	}
	if stop := c.tripBreaker(c.Breaker.Watch(s, c.breakerBaseline)); stop != nil && report.Stopped == nil {
		report.Stopped = stop
	}
}

// emitEvents tells people what holds evictions now, and what does no longer.
func (c *Controller) emitEvents() {
	if c.Events != nil {
		c.Events.StateChanged(c.lastEventState, c.state)
	}
	c.lastEventState = c.state
}
