// Package controller runs passes. In a pass it takes a snapshot of the cluster, collects the
// goals of the strategies, has the planner make a plan, executes the plan wave by wave, and
// reports the result.
//
// It decides when a pass starts and when a pass must stop. It never chooses a pod to evict, and
// it sends no eviction itself: package evictor does.
package controller

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Settings depend on the configuration only.
type Settings struct {
	Planner Planner
	// Replanner makes a second plan within a pass; nil leaves what remains to the next pass.
	Replanner  Replanner
	Strategies []config.ScheduledStrategy
	Mode       plan.Mode
	// BatchSize is the maximum number of moves between two snapshots within a wave; 0 means the
	// whole wave. See evictor.BatchSize.
	BatchSize int
	// HintTTL is how long steering hints stay valid if this process cannot remove them.
	HintTTL  time.Duration
	History  history.Options
	Breaker  breaker.Options
	Benefits history.BenefitOptions
	// ConfigHash identifies the configuration in effect.
	ConfigHash string
}

// Access is what a pass reads and writes outside this process.
type Access struct {
	Observer Observer
	Evictor  evictor.Evictor
	// HintWriter writes the hints of each wave and removes expired hints, even if steering is
	// off; nil in a dry run.
	HintWriter HintWriter
	// Store is read before every pass, and written only by passes that evict.
	Store    StateStore
	Resolver Resolver
	// Holder identifies this process as the holder of the Lease.
	Holder string
	// Events may be nil: then none are published.
	Events Events
	// Approvals may be nil: then no approved plans are executed.
	Approvals Approvals
}

// Controller runs passes with one configuration at a time.
type Controller struct {
	Settings
	Access
	Clock    clock.WithTicker
	Log      *slog.Logger
	Recorder Recorder
	// NewRunID returns the ID of the next pass.
	NewRunID func() string
	// Trust counts how often the model predicts the bindings of schedulers without a profile;
	// nil keeps the stored counts.
	Trust *SchedulerTrust
	// OnReport receives the report of every pass.
	OnReport func(plan.RunReport)
	// Reloads delivers functions that apply a new configuration to the controller. The
	// controller receives from it only between passes. Nil means that nothing changes.
	Reloads <-chan func(*Controller)
	// RefusedInputs returns the files whose newest content is not in effect; nil means none.
	RefusedInputs func() []plan.Input

	state plan.PlannerState
	// lastEventState is the state of the last call of Events.StateChanged.
	lastEventState plan.PlannerState
	unsaved        unsavedState
}

// unsavedState is what earlier passes of this process could not save.
type unsavedState struct {
	trip *plan.BreakerTrip
	// runs are the outcomes of passes that were reported but not closed, by run ID.
	runs map[string][]plan.Outcome
	err  error // why the last close failed
}

// Goals returns the goals of all strategies. Goals of strategies that are not due become
// constraints. A nil due means that all strategies are due.
func Goals(s *cluster.Snapshot, all []config.ScheduledStrategy, due []string) []plan.Goal {
	var goals []plan.Goal
	for _, st := range all {
		for _, g := range st.Strategy.Goals(s) {
			if due != nil && !slices.Contains(due, st.Name) {
				g.Constraint, g.WaitReason = true, "" // a constraint does not wait for anything
			}
			goals = append(goals, g)
		}
	}
	return goals
}

func (c *Controller) strategyNames() []string {
	out := make([]string, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Name
	}
	return out
}

func (c *Controller) sleepUntil(ctx context.Context, t time.Time) bool {
	timer := c.Clock.NewTimer(t.Sub(c.Clock.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return ctx.Err() == nil
	}
}
