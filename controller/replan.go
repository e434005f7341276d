package controller

import (
	"context"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// replan makes and executes a second plan within the pass if a move failed or a replacement landed
// elsewhere (docs/adr/0008). Without a replan, the next pass would have to evict more pods for the
// same goals. The limits apply to both plans together, and there is no third plan. A dry run or a
// stopped pass never replans. Apply never calls replan.
func (p *pass) replan(ctx context.Context) {
	if p.Replanner == nil || p.Mode != plan.Live || p.report.Stopped != nil || ctx.Err() != nil || p.blockedReason() != nil ||
		!slices.ContainsFunc(p.report.Outcomes, needsReplan) {
		return
	}
	s, err := p.Observer.Snapshot(ctx)
	if err != nil {
		p.log.Warn("this pass does not replan, because the cluster cannot be read; the next pass plans what remains", "error", err)
		return
	}
	goals := Goals(s, p.Strategies, p.due)
	second := p.Replanner.Replan(s, p.state, goals, executedMoves(p.report), p.report.Started, s.TakenAt)
	p.log.Info("replanned", "moves", len(second.Moves), "lowerBound", second.Bound.MinForPlan)
	if len(second.Moves) == 0 {
		return
	}
	second = second.ContinueNumbering(p.report.Plan)
	p.report.Replan = &second
	p.executeWaves(ctx, second)
	p.recheckBreaker(ctx)
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
		evicted[o.Step] = evicted[o.Step] || o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome
	}
	for _, m := range report.Plan.Moves {
		if evicted[m.Step] {
			done = append(done, m)
		}
	}
	return done
}
