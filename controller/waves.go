package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
)

// executeWaves executes the waves of a plan in order. If it must stop early, it records why and
// drops the remaining moves.
func (p *pass) executeWaves(ctx context.Context, todo plan.Plan) {
	waves := 0
	for _, m := range todo.Moves {
		waves = max(waves, m.Wave)
	}
	for wave := 1; wave <= waves; wave++ {
		stop := p.executeWave(ctx, todo, wave)
		p.removeLeftoverHints(ctx)
		if stop != nil {
			p.dropRemaining(todo, stop)
			p.report.Stopped = stop
			return
		}
	}
}

// executeWave executes one wave in batches of at most BatchSize moves. executeWave takes a new
// snapshot before each batch. executeWave returns the reason to stop the pass, or nil.
func (p *pass) executeWave(ctx context.Context, todo plan.Plan, wave int) *plan.Reason {
	remaining := todo
	remaining.Moves = movesInWave(todo, wave)
	if p.Mode == plan.Live {
		ready, dropped := splitByRoom(todo.Moves, p.report.Outcomes, remaining.Moves)
		remaining.Moves, p.report.Outcomes = ready, append(p.report.Outcomes, dropped...)
	}
	for first := wave == 1; len(remaining.Moves) > 0; first = false {
		if ctx.Err() != nil {
			return &plan.Reason{Code: plan.Interrupted, Message: fmt.Sprintf("the process was told to stop before wave %d", wave)}
		}
		moves, stop := p.recheckRemaining(ctx, remaining, wave, first)
		if stop != nil {
			return stop
		}
		batch := moves
		if p.BatchSize > 0 && len(moves) > p.BatchSize {
			batch = moves[:p.BatchSize]
		}
		remaining.Moves = moves[len(batch):]
		if stop := p.evictBatch(ctx, todo, wave, batch, slices.ContainsFunc(moves, plan.Move.Steered)); stop != nil {
			return stop
		}
	}
	return nil
}

// recheckRemaining returns the remaining moves of the wave that are still valid, and records an
// outcome for each other move.
func (p *pass) recheckRemaining(ctx context.Context, remaining plan.Plan, wave int, first bool) ([]plan.Move, *plan.Reason) {
	if p.Mode != plan.Live {
		return remaining.Moves, nil
	}
	moves, dropped, err := p.recheckWave(ctx, remaining, wave, first)
	if t := p.state.Breaker; t != nil {
		return nil, &t.Reason
	}
	if err != nil {
		return nil, snapshotFailure(err, fmt.Sprintf("taking a snapshot before wave %d: ", wave))
	}
	p.report.Outcomes = append(p.report.Outcomes, dropped...)
	return moves, nil
}

// The status of a PodDisruptionBudget lags behind its pods. If a budget blocks a move right after
// other evictions, the controller rechecks the move until budgetStatusTimeout has passed.
const (
	budgetStatusTimeout = 10 * time.Second
	budgetPollInterval  = 500 * time.Millisecond
)

// recheckWave checks a wave on a new snapshot. recheckWave does not wait for budgets before the
// first batch of a plan.
func (p *pass) recheckWave(ctx context.Context, remaining plan.Plan, wave int, first bool) ([]plan.Move, []plan.Outcome, error) {
	until := p.Clock.Now().Add(budgetStatusTimeout)
	for {
		s, err := p.Observer.Snapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		if p.tripBreaker(p.Breaker.CheckCluster(s, p.breakerBaseline)) != nil {
			return nil, nil, nil
		}
		moves, dropped := p.Planner.Recheck(s, p.state, Goals(s, p.Strategies, p.due), remaining, wave, s.TakenAt)
		if first || !slices.ContainsFunc(dropped, blockedByBudget) || !p.Clock.Now().Before(until) {
			return moves, dropped, nil
		}
		if !p.sleepUntil(ctx, p.Clock.Now().Add(budgetPollInterval)) {
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

// evictBatch executes a part of a wave. If hinted is true, the hints of the whole wave are on the
// nodes during the batch, because the planner checked all remaining moves of the wave with these
// hints. evictBatch returns the reason to stop the pass, or nil.
func (p *pass) evictBatch(ctx context.Context, todo plan.Plan, wave int, batch []plan.Move, hinted bool) *plan.Reason {
	if len(batch) == 0 {
		return nil
	}
	if p.Mode != plan.Live {
		p.report.Outcomes = append(p.report.Outcomes, p.Evictor.EvictWave(ctx, batch, func() {}).Outcomes...)
		return nil
	}
	onBound := func() {}
	if hinted && p.HintWriter != nil {
		remove, failure := p.writeWaveHints(ctx, todo, wave)
		if failure != nil {
			p.report.Outcomes = append(p.report.Outcomes, hintFailureOutcomes(batch, *failure)...)
			return passStopReason(failure)
		}
		defer remove()
		onBound = remove
	}
	if failure := p.reserveEvictions(ctx, batch); failure != nil {
		p.report.Outcomes = append(p.report.Outcomes, droppedOutcomes(batch, *failure)...)
		return failure
	}
	p.log.Info("executing a wave", "wave", wave, "moves", len(batch))
	return p.recordBatch(ctx, p.Evictor.EvictWave(ctx, batch, onBound))
}

// recordBatch records the outcomes of a batch in the report and in the stored state. recordBatch
// returns the reason to stop the pass, or nil.
func (p *pass) recordBatch(ctx context.Context, result evictor.Result) *plan.Reason {
	p.report.Outcomes = append(p.report.Outcomes, result.Outcomes...)
	tripped := p.tripBreaker(p.Breaker.CheckOutcomes(p.report.Outcomes, p.Clock.Now()))
	budgets := p.recordSpentBudgets(ctx, result.BudgetsSpent)
	unsaved := p.recordOutcomes(ctx, p.report.RunID, result.Outcomes)
	return cmp.Or(result.Stop, tripped, budgets, unsaved)
}

// spentBudgetTTL is how long the API server may reserve a budget's allowance for an eviction that
// it refused with a conflict. The disruption controller drops such reservations after 2 minutes.
const spentBudgetTTL = 2 * time.Minute

// recordSpentBudgets marks every budget in the namespaces of the given pods as possibly spent. If
// the budgets cannot be read, recordSpentBudgets returns the reason to stop the pass.
func (p *pass) recordSpentBudgets(ctx context.Context, pods []plan.PodRef) *plan.Reason {
	if len(pods) == 0 {
		return nil
	}
	until := p.Clock.Now().Add(spentBudgetTTL)
	spent := map[string]time.Time{}
	for name, t := range p.state.SpentBudgets {
		if t.After(p.Clock.Now()) {
			spent[name] = t
		}
	}
	s, err := p.Observer.Snapshot(ctx)
	if err != nil {
		return snapshotFailure(err, "reading the budgets that refused evictions may have spent: ")
	}
	for _, ref := range pods {
		for _, b := range s.Budgets { // by namespace, since the pod may be gone and its labels unknown
			if b.Object.Namespace == ref.Namespace {
				spent[b.Object.Namespace+"/"+b.Object.Name] = until
			}
		}
	}
	p.state.SpentBudgets = spent
	return nil
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
