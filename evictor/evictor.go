// Package evictor carries out the moves of one wave: it evicts through the
// Eviction API and watches until each victim is gone and its replacement Ready.
//
// It decides how an eviction is asked for, what each answer means and when a
// pass must stop. It never picks a pod, never counts budgets, and never deletes
// a pod by any other way than policy/v1 evictions.
package evictor

import (
	"context"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Evictor carries out a wave: moves that may be away at the same time. It calls
// bound once, beside the wave, as soon as no move waits for the scheduler any
// more: each replacement is bound, or the move has ended. It returns after bound
// has. A nil bound is not called.
type Evictor interface {
	EvictWave(ctx context.Context, moves []plan.Move, bound func()) Result
}

// Result says what became of a wave.
type Result struct {
	// Outcomes has one entry for each move, in the order of the moves.
	Outcomes []plan.Outcome
	// Stop is set when the pass must end here.
	Stop *plan.Reason
	// BudgetsSpent are victims whose eviction was refused with a conflict: the API
	// server may have taken their budget's allowance all the same.
	BudgetsSpent []plan.PodRef
}

// DryRun evicts nothing and says so.
type DryRun struct{}

// NewDryRun returns the evictor of dry runs.
func NewDryRun() DryRun { return DryRun{} }

// EvictWave reports every move as one that would be evicted.
func (DryRun) EvictWave(_ context.Context, moves []plan.Move, _ func()) Result {
	var r Result
	for _, m := range moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.WouldEvict, Reason: m.Reason})
	}
	return r
}
