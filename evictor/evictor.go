// Package evictor executes the moves of one wave: it evicts pods through the Eviction API and waits
// until each evicted pod is gone and its replacement is Ready.
//
// The package decides how an eviction is requested, what each answer means, and when a pass must
// stop. The package never chooses pods, never counts budgets, and removes pods only by policy/v1
// evictions.
package evictor

import (
	"context"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Evictor executes a wave: moves that may be in flight at the same time. EvictWave calls bound
// once, in the background, as soon as every replacement is bound or its move has ended. EvictWave
// returns after bound has returned. A nil bound is not called.
type Evictor interface {
	EvictWave(ctx context.Context, moves []plan.Move, bound func()) Result
}

// Result is the outcome of a wave.
type Result struct {
	// Outcomes has one entry for each move, in the order of the moves.
	Outcomes []plan.Outcome
	// Stop is the reason why the pass must stop; nil if the pass may continue.
	Stop *plan.Reason
	// BudgetsSpent are pods whose eviction was refused with a conflict. The API server may have
	// reduced their disruption budgets anyway.
	BudgetsSpent []plan.PodRef
}

// DryRun evicts no pod. DryRun reports what would be evicted.
type DryRun struct{}

// EvictWave reports every move as one that would be evicted. EvictWave does not call bound.
func (DryRun) EvictWave(_ context.Context, moves []plan.Move, _ func()) Result {
	var r Result
	for _, m := range moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.WouldEvict, Reason: m.Reason})
	}
	return r
}
