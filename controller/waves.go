package controller

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// executeWaves goes through the waves. It returns why it stopped early, or nil.
func (c *Controller) executeWaves(ctx context.Context, log *slog.Logger, report *plan.RunReport, due []string) *plan.Reason {
	waves := 0
	for _, m := range report.Plan.Moves {
		waves = max(waves, m.Wave)
	}
	for wave := 1; wave <= waves; wave++ {
		stop := c.executeWave(ctx, log, report, due, wave)
		c.removeLeftoverHints(ctx, log, report.RunID)
		if stop != nil {
			c.dropRemaining(report, stop)
			return stop
		}
	}
	return nil
}

// executeWave carries out one wave, no more moves at a time than the pace lets begin
// soon after a look at the cluster.
func (c *Controller) executeWave(ctx context.Context, log *slog.Logger, report *plan.RunReport, due []string, wave int) *plan.Reason {
	rest := report.Plan
	rest.Moves = movesInWave(report.Plan, wave)
	if c.Mode == plan.Live {
		moves, dropped := splitByRoom(report, rest.Moves)
		rest.Moves, report.Outcomes = moves, append(report.Outcomes, dropped...)
	}
	for first := wave == 1; len(rest.Moves) > 0; first = false {
		if ctx.Err() != nil {
			return &plan.Reason{Code: plan.Interrupted, Message: "told to stop before wave " + itoa(wave)}
		}
		moves, stop := c.recheckRemaining(ctx, report, rest, due, wave, first)
		if stop != nil {
			return stop
		}
		begun := moves
		if c.BatchSize > 0 && len(moves) > c.BatchSize {
			begun = moves[:c.BatchSize]
		}
		rest.Moves = moves[len(begun):]
		if stop := c.evictBatch(ctx, log, report, wave, begun, slices.ContainsFunc(moves, plan.Move.Steered)); stop != nil {
			return stop
		}
	}
	return nil
}

// recheckRemaining are the moves of the wave that still hold; the others are reported.
func (c *Controller) recheckRemaining(ctx context.Context, report *plan.RunReport, rest plan.Plan, due []string, wave int, first bool) ([]plan.Move, *plan.Reason) {
	if c.Mode != plan.Live {
		return rest.Moves, nil
	}
	moves, dropped, err := c.recheckWave(ctx, rest, due, wave, first)
	if t := c.state.Breaker; t != nil {
		return nil, &t.Reason
	}
	if err != nil {
		return nil, snapshotFailure(err, "looking at the cluster before wave "+itoa(wave)+": ")
	}
	report.Outcomes = append(report.Outcomes, dropped...)
	return moves, nil
}

// evictBatch carries out a part of a wave. With hinted, the hints of the wave stand
// meanwhile, though no move of this part may need them: all that is left of the
// wave was judged with them.
func (c *Controller) evictBatch(ctx context.Context, log *slog.Logger, report *plan.RunReport, wave int, moves []plan.Move, hinted bool) *plan.Reason {
	if len(moves) == 0 {
		return nil
	}
	if c.Mode != plan.Live {
		report.Outcomes = append(report.Outcomes, c.Evictor.EvictWave(ctx, moves, func() {}).Outcomes...)
		return nil
	}
	bound := func() {}
	if hinted && c.HintWriter != nil {
		release, refused := c.writeWaveHints(ctx, log, report, wave)
		if refused != nil {
			report.Outcomes = append(report.Outcomes, hintFailureOutcomes(moves, *refused)...)
			return stopsPass(refused)
		}
		defer release()
		bound = release
	}
	if refused := c.reserveEvictions(ctx, report, moves); refused != nil {
		report.Outcomes = append(report.Outcomes, droppedOutcomes(moves, *refused)...)
		return refused
	}
	log.Info("carrying out", "wave", wave, "moves", len(moves))
	result := c.Evictor.EvictWave(ctx, moves, bound)
	report.Outcomes = append(report.Outcomes, result.Outcomes...)
	tripped := c.tripBreaker(c.Breaker.Judge(report.Outcomes, c.Clock.Now()))
	unknown := c.recordSpentBudgets(ctx, result.BudgetsSpent)
	unsaved := c.recordOutcomes(ctx, report.RunID, result.Outcomes)
	return cmp.Or(result.Stop, tripped, unknown, unsaved)
}

// The status of a budget follows its pods with a delay. A wave that a budget
// seems to block right after the last one is looked at again for a while.
const (
	budgetStatusTimeout = 10 * time.Second
	budgetPollInterval  = 500 * time.Millisecond
)

// recheckWave judges a wave by a fresh look at the cluster. Before anything was
// evicted there is nothing to settle.
func (c *Controller) recheckWave(ctx context.Context, p plan.Plan, due []string, wave int, first bool) ([]plan.Move, []plan.Outcome, error) {
	until := c.Clock.Now().Add(budgetStatusTimeout)
	for {
		s, err := c.Observer.Snapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		if c.tripBreaker(c.Breaker.Watch(s, c.breakerBaseline)) != nil {
			return nil, nil, nil
		}
		moves, dropped := c.Planner.Recheck(s, c.state, Goals(s, c.Strategies, due), p, wave, s.TakenAt)
		if first || !slices.ContainsFunc(dropped, blockedByBudget) || !c.Clock.Now().Before(until) {
			return moves, dropped, nil
		}
		if !c.sleepUntil(ctx, c.Clock.Now().Add(budgetPollInterval)) {
			return moves, dropped, nil
		}
	}
}

func blockedByBudget(o plan.Outcome) bool {
	switch o.Reason.Code {
	case plan.BlockedByPDB, plan.PDBNotObserved, plan.WorkloadUnavailable, plan.WorkloadDegraded, plan.LastReadyPod:
		return true
	}
	return false
}

// spentBudgetTTL is how long the API server may hold a budget's allowance for an
// eviction that it refused with a conflict (2 minutes in the disruption
// controller).
const spentBudgetTTL = 2 * time.Minute

// recordSpentBudgets remembers the budgets that refused evictions may have taken. Where they
// are not known, the pass must not go on.
func (c *Controller) recordSpentBudgets(ctx context.Context, pods []plan.PodRef) *plan.Reason {
	if len(pods) == 0 {
		return nil
	}
	until := c.Clock.Now().Add(spentBudgetTTL)
	spent := map[string]time.Time{}
	for name, t := range c.state.SpentBudgets {
		if t.After(c.Clock.Now()) {
			spent[name] = t
		}
	}
	s, err := c.Observer.Snapshot(ctx)
	if err != nil {
		return snapshotFailure(err, "looking for the budgets that refused evictions may have taken: ")
	}
	for _, ref := range pods {
		for _, b := range s.Budgets { // by namespace: the victim itself may be gone
			if b.Object.Namespace == ref.Namespace {
				spent[b.Object.Namespace+"/"+b.Object.Name] = until
			}
		}
	}
	c.state.SpentBudgets = spent
	return nil
}

// droppedOutcomes accounts for moves that something else than the pod is in the way of.
func droppedOutcomes(moves []plan.Move, why plan.Reason) []plan.Outcome {
	var out []plan.Outcome
	for _, m := range moves {
		out = append(out, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: why})
	}
	return out
}

// dropRemaining accounts for the moves that were never tried.
func (c *Controller) dropRemaining(report *plan.RunReport, why *plan.Reason) {
	done := map[int]bool{}
	for _, o := range report.Outcomes {
		done[o.Step] = true
	}
	for _, m := range report.Plan.Moves {
		if !done[m.Step] {
			report.Outcomes = append(report.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped,
				Reason: plan.Reason{Code: plan.Interrupted, Message: "not tried; the pass had stopped: " + string(why.Code)}})
		}
	}
}

func movesInWave(p plan.Plan, wave int) []plan.Move {
	var out []plan.Move
	for _, m := range p.Moves {
		if m.Wave == wave {
			out = append(out, m)
		}
	}
	return out
}
