package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
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
		p.hints.removeLeftover(ctx)
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
	remaining.Moves = slices.DeleteFunc(slices.Clone(todo.Moves), func(m plan.Move) bool { return m.Wave != wave })
	if p.Mode == plan.Live {
		ready, dropped := splitByRoom(todo.Moves, p.report.Outcomes, remaining.Moves)
		remaining.Moves, p.report.Outcomes = ready, append(p.report.Outcomes, dropped...)
	}
	for first := wave == 1; len(remaining.Moves) > 0; first = false {
		if ctx.Err() != nil {
			return &plan.Reason{Code: plan.Interrupted, Message: fmt.Sprintf("the process was told to stop before wave %d", wave)}
		}
		if p.Mode == plan.Live {
			if !p.stopAt.IsZero() && !p.Clock.Now().Before(p.stopAt) {
				return &plan.Reason{Code: plan.PassTimeout, Message: fmt.Sprintf("the pass timed out before wave %d", wave)}
			}
			ready, dropped := splitByNode(todo, p.report.Outcomes, remaining.Moves)
			remaining.Moves, p.report.Outcomes = ready, append(p.report.Outcomes, dropped...)
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
// outcome for each other move. It asks for other releases and alerts before it takes the snapshot,
// because the answers take time and the evictions must follow a new snapshot.
func (p *pass) recheckRemaining(ctx context.Context, remaining plan.Plan, wave int, first bool) ([]plan.Move, *plan.Reason) {
	if p.Mode != plan.Live {
		return remaining.Moves, nil
	}
	if stop := cmp.Or(p.checkReleaseAndAlerts(ctx)); stop != nil {
		p.report.Outcomes = append(p.report.Outcomes, droppedOutcomes(remaining.Moves, *stop)...)
		return nil, stop
	}
	p.expectStep("checking a wave again")
	moves, dropped, err := p.recheckWave(ctx, remaining, wave, first)
	if t := p.journal.state.Breaker; t != nil {
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

// recheckWave checks a wave on a new snapshot. recheckWave does not wait for budgets before the first batch of a plan.
func (p *pass) recheckWave(ctx context.Context, remaining plan.Plan, wave int, first bool) ([]plan.Move, []plan.Outcome, error) {
	until := p.Clock.Now().Add(budgetStatusTimeout)
	for {
		s, err := p.Observer.Snapshot(ctx)
		if err != nil {
			return nil, nil, err
		}
		p.snapshot = s // frees the previous one
		if p.checkClusterAgain(s) != nil {
			return nil, nil, nil
		}
		var moves []plan.Move
		var dropped []plan.Outcome
		p.Trust.WithoutChecks(func() {
			moves, dropped = p.Planner.Recheck(s, p.journal.state, p.goalsForMoves(s), remaining, wave, s.TakenAt)
		})
		if first || !slices.ContainsFunc(dropped, blockedByBudget) || !p.Clock.Now().Before(until) ||
			!wait.Sleep(ctx, p.Clock, budgetPollInterval) {
			return moves, dropped, nil
		}
	}
}

// goalsForMoves returns the goals for the moves that the pass executes. All moves of a plan have strategies of one
// mode.
func (p *pass) goalsForMoves(s *cluster.Snapshot) []plan.Goal {
	mode := plan.Automatic
	if p.approved != nil && slices.ContainsFunc(p.Strategies, func(st schedule.Strategy) bool {
		return st.Mode == plan.Approve && st.Name == p.approved.Plan.Moves[0].Strategy
	}) {
		mode = plan.Approve
	}
	return planner.GoalsFor(mode, Goals(s, p.Strategies, p.due))
}

func blockedByBudget(o plan.Outcome) bool {
	switch o.Reason.Code {
	case plan.BlockedByPDB, plan.PDBNotObserved, plan.WorkloadUnavailable, plan.WorkloadDegraded, plan.LastReadyPod,
		plan.ReplacementMissing, plan.ReplacementRefused:
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
		remove, failure := p.hints.writeForWave(ctx, todo.HintsForWave(wave), wave)
		if failure != nil {
			p.report.Outcomes = append(p.report.Outcomes, hintFailureOutcomes(batch, *failure)...)
			if failure.Code == plan.HintNotWritten {
				return nil // unlike a missing permission, this affects only one wave
			}
			return failure
		}
		defer remove()
		onBound = remove
	}
	at := p.Clock.Now().UTC()
	if failure := p.reserveEvictions(ctx, batch); failure != nil {
		p.report.Outcomes = append(p.report.Outcomes, droppedOutcomes(batch, *failure)...)
		return failure
	}
	p.expectStep(executingText(todo, wave, len(batch), len(p.report.Outcomes)))
	p.log.Info("executing a wave", "wave", wave, "moves", len(batch))
	result := p.Evictor.EvictWave(ctx, batch, onBound)
	for i := range result.Outcomes {
		result.Outcomes[i].SetTime(at)
	}
	return p.recordBatch(ctx, result)
}

// executingText describes a batch: its wave, and how many moves of the plan are done.
func executingText(todo plan.Plan, wave, batch, done int) string {
	last := 0
	for _, m := range todo.Moves {
		last = max(last, m.Wave)
	}
	return fmt.Sprintf("executing a batch of evictions: %s of wave %d of %d; %d of %d are done", plural.Count(batch, "move"), wave, last, done,
		len(todo.Moves))
}

// recordBatch records the outcomes of a batch in the report and in the stored state. recordBatch
// returns the reason to stop the pass, or nil.
func (p *pass) recordBatch(ctx context.Context, result evictor.Result) *plan.Reason {
	p.report.Outcomes = append(p.report.Outcomes, result.Outcomes...)
	tripped := p.tripBreaker(p.Breaker.CheckOutcomes(p.report.Outcomes, p.Clock.Now()))
	budgets := p.recordSpentBudgets(ctx, result.BudgetsSpent)
	unsaved := p.recordOutcomes(ctx, p.report.RunID, result.Outcomes)
	if p.OnBatch != nil {
		p.OnBatch(&p.report, result.Outcomes)
	}
	if p.Records != nil {
		p.Records.Progress(ctx, &p.report)
	}
	return cmp.Or(result.Stop, tripped, budgets, unsaved)
}

// recordSpentBudgets marks every budget in the namespaces of the given pods as possibly spent. If
// the budgets cannot be read, recordSpentBudgets returns the reason to stop the pass.
func (p *pass) recordSpentBudgets(ctx context.Context, pods []plan.PodRef) *plan.Reason {
	if len(pods) == 0 {
		return nil
	}
	until := p.Clock.Now().Add(history.SpentBudgetTTL)
	spent := map[string]time.Time{}
	for name, t := range p.journal.state.SpentBudgets {
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
	p.journal.state.SpentBudgets = spent
	return nil
}

// A displaced move evicts a pod from a node to make room there for a later move.

// splitByRoom returns the candidates that have room. For each other candidate, whose displaced move did not make room
// as predicted, it returns an outcome. A displaced pod that was already gone, or did not need to move, takes no room.
func splitByRoom(all []plan.Move, done []plan.Outcome, candidates []plan.Move) (ready []plan.Move, dropped []plan.Outcome) {
	for _, m := range candidates {
		if why := roomProblem(all, done, m); why != "" {
			dropped = append(dropped, droppedOutcomes([]plan.Move{m}, plan.Reason{Code: plan.PremiseChanged, Message: why})...)
		} else {
			ready = append(ready, m)
		}
	}
	return ready, dropped
}

// roomProblem returns the reason why a move has no room, or "" if the move has room or needs no displaced move.
func roomProblem(all []plan.Move, done []plan.Outcome, m plan.Move) string {
	for _, q := range all {
		if q.DisplacedFor == nil || q.DisplacedFor.UID != m.Pod.UID {
			continue
		}
		k := slices.IndexFunc(done, func(o plan.Outcome) bool { return o.Step == q.Step })
		if k < 0 {
			return fmt.Sprintf("%s was to make room for it on %s, but was not tried", q.Pod, q.From)
		}
		switch o := done[k]; {
		case o.Outcome == plan.Evicted && o.LandedAsPredicted, o.Outcome == plan.AlreadyGone,
			o.Outcome == plan.Dropped && o.Reason.Code == plan.NotNeeded:
		case o.Outcome == plan.Evicted && o.Landed != "":
			return fmt.Sprintf("%s was to make room for it on %s, but its replacement landed on %s, not on the predicted node %s", q.Pod, q.From,
				o.Landed, q.To)
		default:
			return fmt.Sprintf("%s was to make room for it on %s, but did not: %s (%s)", q.Pod, q.From, o.Outcome, o.Reason.Code)
		}
	}
	return ""
}

// splitByNode returns the candidates without those that empty a node which another move has failed
// to leave. For each of those, it returns an outcome.
func splitByNode(todo plan.Plan, done []plan.Outcome, candidates []plan.Move) (ready []plan.Move, dropped []plan.Outcome) {
	failed := map[string]plan.Outcome{} // by goal ID
	for _, o := range done {
		if o.Outcome == plan.Evicted || o.Outcome == plan.AlreadyGone || o.Outcome == plan.InProgress {
			continue
		}
		if k := slices.IndexFunc(todo.Moves, func(m plan.Move) bool { return m.Step == o.Step }); k >= 0 {
			for _, id := range todo.Moves[k].Goals {
				failed[id] = o
			}
		}
	}
	for _, m := range candidates {
		k := slices.IndexFunc(todo.Goals, func(g plan.Goal) bool {
			_, is := failed[g.ID]
			return is && g.Kind == plan.NodeEmpty && slices.Contains(m.Goals, g.ID)
		})
		if k < 0 {
			ready = append(ready, m)
			continue
		}
		g := &todo.Goals[k]
		o := failed[g.ID]
		dropped = append(dropped, droppedOutcomes([]plan.Move{m}, plan.Reason{Code: plan.NodeNotEmptied, Message: fmt.Sprintf(
			"%s must be emptied completely, but %s stays: %s (%s)", g.Subject.Name, o.Pod, o.Outcome, o.Reason.Code)})...)
	}
	return ready, dropped
}

// displacementProblem returns a message if a displaced move makes room for no later move, and ""
// otherwise. The planner never makes a plan with such a move.
func displacementProblem(moves []plan.Move) string {
	for _, q := range moves {
		if q.DisplacedFor == nil {
			continue
		}
		if !slices.ContainsFunc(moves, func(p plan.Move) bool {
			return p.Pod.UID == q.DisplacedFor.UID && p.Wave > q.Wave && p.DisplacedFor == nil
		}) {
			return fmt.Sprintf("step %d makes room for %s, but no later wave moves that pod", q.Step, q.DisplacedFor)
		}
	}
	return ""
}
