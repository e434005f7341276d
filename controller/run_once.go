package controller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/work"
	"github.com/evenkeel-project/evenkeel/internal/heap"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
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
	if err := p.makePlan(ctx); err != nil {
		p.reportFailure(ctx, err)
		return p.report, err
	}
	if !p.stopIfBlocked() && p.storePlan(ctx, &p.report.Plan) {
		p.executeWaves(ctx, p.report.Plan)
		p.recheckBreaker(ctx)
		p.replan(ctx)
		p.hints.keepEmptied(ctx, &p.report)
	}
	p.keepProposal(ctx)
	return p.finish(ctx), nil
}

// observe loads the state, takes a snapshot, renews the hints on empty nodes and removes expired hints.
func (p *pass) observe(ctx context.Context) error {
	if err := p.loadState(ctx); err != nil {
		return err
	}
	if err := p.loadDiscarded(ctx); err != nil {
		return err
	}
	s, err := p.Observer.Snapshot(ctx)
	if err == nil && p.hints.tidy(ctx, s) {
		s, err = p.Observer.Snapshot(ctx)
	}
	p.snapshot = s
	if err == nil && p.Mode == plan.Live {
		p.OtherDeschedulers.Check(s)
		p.followBackground()
	}
	return err
}

// followBackground removes the evictions in the background that have ended, and lets the workloads of those that took
// too long back off. The pass saves the state later.
func (p *pass) followBackground() {
	var late []plan.BackgroundEviction
	p.journal.state, late = history.FollowBackground(p.journal.state, p.snapshot, p.Clock.Now(), p.History)
	for _, b := range late {
		p.log.Warn("an eviction in the background did not end in time; its workload backs off", "pod", b.Pod.String(),
			"workload", b.Workload.String(), "since", b.Since)
	}
}

// makePlan makes the plan of the pass. It returns an error if ctx ends before the plan is complete.
func (p *pass) makePlan(ctx context.Context) error {
	p.expectStep("planning")
	begun := p.Clock.Now()
	unlimit := limitPlanning(ctx, p.snapshot, p.Clock, p.MaxPlanTime)
	p.Trust.WithoutChecks(func() {
		defer heap.Planning(p.PerPass.For(len(p.snapshot.Pods)))()
		goals := Goals(p.snapshot, p.Strategies, p.due)
		p.report.Plan = p.markStateUnknown(p.Planner.Plan(p.snapshot, p.journal.state, goals, p.snapshot.TakenAt))
	})
	if unlimit() {
		p.report.Plan = plan.Plan{}
		return ctx.Err()
	}
	p.log.Info("planned", "strategies", p.due, "moves", len(p.report.Plan.Moves),
		"proposedMoves", countProposedMoves(p.report.Plan), "lowerBound", p.report.Plan.Bound.MinForPlan,
		"mode", p.Mode, "observing", begun.Sub(p.report.Started), "planning", p.Clock.Now().Sub(begun))
	return nil
}

// limitPlanning ends planning on the snapshot when ctx ends or the longest time is over; 0 means no bound. The result
// ends that limit, and reports whether the planning ended because of ctx.
func limitPlanning(ctx context.Context, s *cluster.Snapshot, on clock.PassiveClock, longest time.Duration) (unlimit func() bool) {
	begun := on.Now()
	s.Work = work.New(func() bool { return ctx.Err() != nil || longest > 0 && on.Since(begun) >= longest }, 0)
	return func() bool {
		interrupted := s.Work.Stopped() && ctx.Err() != nil
		s.Work = nil
		return interrupted
	}
}

// countProposedMoves counts the moves that wait for approval or are only shown.
func countProposedMoves(of plan.Plan) (n int) {
	for _, x := range of.Proposals {
		n += len(x.Plan.Moves)
	}
	return n
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

// finish publishes the report, and then removes the pass and its reservations from the stored state.
func (p *pass) finish(ctx context.Context) plan.RunReport {
	p.report.Finished = p.Clock.Now().UTC()
	slices.SortStableFunc(p.report.Outcomes, func(a, b plan.Outcome) int { return cmp.Compare(a.Step, b.Step) })
	p.publishState()
	p.publishReport()
	p.closePass(ctx, p.finishRecords(ctx) == nil) // the next process would write the plans from the reservations, which go
	if p.Records != nil {
		p.Records.Sweep(ctx)
	}
	return p.report
}

// ReportUnreadable publishes the report of a pass that could not begin, because the cluster cannot be read.
func (c *Controller) ReportUnreadable(ctx context.Context, due []string, err error) {
	c.newPass(due).reportFailure(ctx, err)
}

// reportFailure publishes the report of a pass that could not start. Every pass has a report. The
// report of an approved plan contains the plan, with every move dropped.
func (p *pass) reportFailure(ctx context.Context, err error) {
	r := &p.report
	r.Stopped = failureReason(ctx, err)
	if r.Plan.ID == "" {
		at := r.Started
		if stale := (*observe.StaleError)(nil); errors.As(err, &stale) {
			at = stale.Until.UTC()
		}
		r.Plan = plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: at, Expires: at}
		if slices.Contains(plan.NothingJudgedCodes(), r.Stopped.Code) {
			r.Plan.NothingJudged = []plan.Reason{*r.Stopped}
		}
		r.Plan.ID = plan.ContentID(r.Plan)
	}
	p.dropRemaining(r.Plan, r.Stopped)
	r.Finished = p.Clock.Now().UTC()
	p.publishReport()
	_ = p.finishRecords(ctx) // there is no plan
}

func failureReason(ctx context.Context, err error) *plan.Reason {
	var coded codedError
	switch {
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop before it made a plan"}
	case errors.As(err, &coded):
		return &plan.Reason{Code: coded.code, Message: err.Error()}
	}
	return snapshotFailure(err, "")
}

// replan makes and executes a second plan within the pass if a move failed or a replacement landed
// elsewhere (docs/adr/planning.md). Without a replan, the next pass would have to evict more pods for the
// same goals. The limits apply to both plans together, and there is no third plan. A dry run or a
// stopped pass never replans. Apply never calls replan.
func (p *pass) replan(ctx context.Context) {
	if p.Mode != plan.Live || p.report.Stopped != nil || ctx.Err() != nil || p.blockedReason() != nil ||
		!slices.ContainsFunc(p.report.Outcomes, needsReplan) {
		return
	}
	s, err := p.Observer.Snapshot(ctx)
	if err != nil {
		p.log.Warn("this pass does not replan, because the cluster cannot be read; the next pass plans what remains", "error", err)
		return
	}
	p.snapshot = s
	var second plan.Plan
	unlimit := limitPlanning(ctx, s, p.Clock, p.MaxPlanTime)
	p.Trust.WithoutChecks(func() {
		goals := Goals(s, p.Strategies, p.due)
		second = p.Planner.Replan(s, p.journal.state, goals, executedMoves(p.report), p.report.Started, s.TakenAt)
	})
	if unlimit() {
		return
	}
	p.log.Info("replanned", "moves", len(second.Moves), "lowerBound", second.Bound.MinForPlan)
	if len(second.Moves) == 0 {
		return
	}
	second = second.ContinueNumbering(p.report.Plan)
	p.report.Replan = &second
	if p.storePlan(ctx, &second) {
		p.executeWaves(ctx, second)
		p.recheckBreaker(ctx)
	}
}

// needsReplan reports whether a move was dropped because it was no longer valid, or whether its
// replacement landed on a node that the plan did not accept. Moves that a budget blocks do not
// cause a replan, because the budget will not allow more evictions so soon.
func needsReplan(o plan.Outcome) bool {
	switch o.Outcome {
	case plan.AlreadyGone:
		return true
	case plan.Evicted:
		return o.Landed != "" && !o.LandedAsPredicted
	case plan.Dropped:
		return o.Reason.Code != plan.HintNotWritten && !blockedByBudget(o)
	}
	return false
}

// executedMoves returns the moves of the first plan whose pods were or may have been evicted.
func executedMoves(report plan.RunReport) (done []plan.Move) {
	evicted := map[int]bool{}
	for _, o := range report.Outcomes {
		evicted[o.Step] = evicted[o.Step] || o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome || o.Outcome == plan.InProgress
	}
	for _, m := range report.Plan.Moves {
		if evicted[m.Step] {
			done = append(done, m)
		}
	}
	return done
}
