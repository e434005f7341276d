package controller

import (
	"cmp"
	"context"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// RunOnce runs one pass for the strategies that are due; nil means all. RunOnce returns an error if
// it could not make a plan. OnReport receives the report even then. A replan happens at most once,
// and only if a move failed or a replacement landed elsewhere.
func (c *Controller) RunOnce(ctx context.Context, due []string) (plan.RunReport, error) {
	p := c.newPass(due)
	if err := p.observe(ctx); err != nil {
		p.reportFailure(ctx, err)
		return p.report, err
	}
	p.checkBreaker()
	p.makePlan()
	if !p.stopIfBlocked() {
		p.executeWaves(ctx, p.report.Plan)
		p.recheckBreaker(ctx)
		p.replan(ctx)
	}
	return p.finish(ctx), nil
}

// observe loads the state, takes a snapshot and removes expired hints.
func (p *pass) observe(ctx context.Context) error {
	if err := p.loadState(ctx); err != nil {
		return err
	}
	s, err := p.Observer.Snapshot(ctx)
	if err == nil {
		s, err = p.removeExpiredHints(ctx, s)
	}
	p.snapshot = s
	return err
}

// makePlan collects the goals and makes a plan for them.
func (p *pass) makePlan() {
	begun := p.Clock.Now()
	p.goals = Goals(p.snapshot, p.Strategies, p.due)
	p.report.Plan = p.markStateUnknown(p.Planner.Plan(p.snapshot, p.state, p.goals, p.snapshot.TakenAt))
	p.log.Info("planned", "strategies", p.due, "moves", len(p.report.Plan.Moves), "lowerBound", p.report.Plan.Bound.MinForPlan,
		"mode", p.Mode, "observing", begun.Sub(p.report.Started), "planning", p.Clock.Now().Sub(begun))
}

// stopIfBlocked reports whether a pause or the breaker forbids evictions. If one does,
// stopIfBlocked records the reason and drops all moves.
func (p *pass) stopIfBlocked() bool {
	p.report.Stopped = p.blockedReason()
	if p.report.Stopped == nil {
		return false
	}
	p.dropRemaining(p.report.Plan, p.report.Stopped)
	return true
}

// finish publishes the report, and then removes the pass and its reservations from the stored
// state.
func (p *pass) finish(ctx context.Context) plan.RunReport {
	p.report.Finished = p.Clock.Now().UTC()
	slices.SortStableFunc(p.report.Outcomes, func(a, b plan.Outcome) int { return cmp.Compare(a.Step, b.Step) })
	p.Recorder.RecordPass(p.report)
	p.emitEvents()
	p.OnReport(p.report)
	p.closePass(ctx)
	return p.report
}

// emitEvents publishes events about pauses and breaker trips that began or ended since the last
// call.
func (c *Controller) emitEvents() {
	if c.Events != nil {
		c.Events.StateChanged(c.lastEventState, c.state)
	}
	c.lastEventState = c.state
}
