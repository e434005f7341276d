package controller

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// Replanner plans for what a pass has left since not all of it came as planned.
type Replanner interface {
	Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan
}

// replan (docs/adr/0008) plans once more in a pass not all of which came as planned, and
// carries that out too: what is missing would otherwise be what the next pass begins by
// evicting for. Limits count over both plans, and there is no third. Nothing is planned
// anew for somebody who approved a plan, in a dry run, and after a stop.
func (c *Controller) replan(ctx context.Context, log *slog.Logger, report *plan.RunReport, due []string) {
	if c.Replanner == nil || c.Mode != plan.Live || report.Stopped != nil || ctx.Err() != nil || c.blockedReason() != nil || !slices.ContainsFunc(report.Outcomes, needsReplan) {
		return
	}
	s, err := c.Observer.Snapshot(ctx)
	if err != nil {
		log.Warn("what this pass has left is for the next", "error", err)
		return
	}
	goals := Goals(s, c.Strategies, due)
	p := c.Replanner.Replan(s, c.state, goals, executedMoves(report), report.Started, s.TakenAt)
	log.Info("planned again", "moves", len(p.Moves), "lowerBound", p.Bound.MinForPlan)
	if len(p.Moves) == 0 {
		return
	}
	p = p.ContinueNumbering(report.Plan)
	part := *report
	part.Plan, report.Replan = p, &p
	part.Stopped = c.executeWaves(ctx, log, &part, due)
	c.measureBenefit(ctx, log, &part, planner.GoalState{Snapshot: s, Goals: goals}, due)
	report.Outcomes, report.Stopped = part.Outcomes, part.Stopped
}

// needsReplan reports whether a move was not tried because it no longer held, or whether
// its replacement landed where that was not accepted. What budgets forbid is not planned
// anew: they will not have more to give so soon.
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

// executedMoves are the moves of the plan whose pods are gone, or may be.
func executedMoves(report *plan.RunReport) (done []plan.Move) {
	gone := map[int]bool{}
	for _, o := range report.Outcomes {
		gone[o.Step] = gone[o.Step] || o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome
	}
	for _, m := range report.Plan.Moves {
		if gone[m.Step] {
			done = append(done, m)
		}
	}
	return done
}
