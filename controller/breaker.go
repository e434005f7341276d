package controller

import (
	"context"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// checkBreaker asks the breaker whether it blocks this pass, and takes the baseline with which
// later snapshots of the pass are compared. It first updates the counts of schedulers, which are
// part of the state.
func (p *pass) checkBreaker() {
	p.updateSchedulerCounts()
	if p.breakerReason = p.Breaker.StaysOpen(p.state.Breaker, p.snapshot, p.Clock.Now()); p.breakerReason == nil {
		p.state.Breaker = nil
	}
	p.breakerBaseline = breaker.NewBaseline(p.snapshot)
	if p.state.Breaker == nil {
		p.breakerReason = p.tripBreaker(p.Breaker.CheckCluster(p.snapshot, p.breakerBaseline))
	}
}

// blockedReason says why a pass must not evict: a pause or the breaker. It is always nil in a dry
// run.
func (p *pass) blockedReason() *plan.Reason {
	switch {
	case p.Mode != plan.Live:
		return nil
	case p.state.Pause != nil:
		r := p.state.Pause.Block().Reason
		return &r
	}
	return p.breakerReason
}

// tripBreaker stores a trip of the breaker, which blocks this pass and the next ones. If the
// breaker is open already, the earlier trip stays. It returns why the pass must stop, or nil if t
// is nil.
func (p *pass) tripBreaker(t *plan.BreakerTrip) *plan.Reason {
	switch {
	case t == nil:
		return nil
	case p.state.Breaker != nil:
		return &p.state.Breaker.Reason
	}
	p.state.Breaker = t
	p.Log.Error("the breaker tripped; no pod is evicted until it closes", "reason", t.Reason.Message, "until", t.Until)
	return &t.Reason
}

// measureBenefit compares what the evictions improved with what the plan predicted, and lets the
// breaker check the resulting snapshot. It does nothing if the pass evicted no pod.
func (p *pass) measureBenefit(ctx context.Context, executed plan.Plan, before planner.GoalState) {
	evicted := false
	for _, o := range p.report.Outcomes {
		evicted = evicted || o.Outcome == plan.Evicted
	}
	if p.Mode != plan.Live || !evicted {
		return
	}
	s, err := p.Observer.Snapshot(context.WithoutCancel(ctx))
	if err != nil {
		p.log.Warn("the benefit of the evictions is unknown: taking a snapshot failed", "error", err)
		return
	}
	gains := planner.Gains(before, executed, p.report.Outcomes, planner.GoalState{Snapshot: s, Goals: Goals(s, p.Strategies, p.due)})
	p.state = history.AddBenefit(p.state, gains, p.strategyNames(), p.Clock.Now(), p.Benefits)
	if p.state.Breaker != nil {
		return
	}
	if stop := p.tripBreaker(p.Breaker.CheckCluster(s, p.breakerBaseline)); stop != nil && p.report.Stopped == nil {
		p.report.Stopped = stop
	}
}

// updateSchedulerCounts replaces the stored counts of each scheduler by those of this process,
// unless the stored counts contain more predictions.
func (c *Controller) updateSchedulerCounts() {
	if c.Trust == nil {
		return
	}
	counts := c.Trust.Counts()
	if counts == nil {
		counts = map[string]plan.SchedulerBindings{}
	}
	for name, b := range c.state.Schedulers {
		if _, known := counts[name]; (known || len(counts) < plan.MaxSchedulers) && counts[name].Predicted < b.Predicted {
			counts[name] = b
		}
	}
	c.state.Schedulers = counts
}
