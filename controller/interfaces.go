package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Observer takes snapshots of the cluster.
type Observer interface {
	Snapshot(ctx context.Context) (*cluster.Snapshot, error)
}

// Planner makes plans and checks them again before execution.
type Planner interface {
	Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan
	// Admit applies limits, windows and budgets to a saved plan. Admit returns an outcome for each
	// forbidden move.
	Admit(s *cluster.Snapshot, st plan.PlannerState, p plan.Plan, now time.Time) []plan.Outcome
	// Recheck returns the moves of a wave that are still valid on a new snapshot, and an
	// outcome for each other move of the wave.
	Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, p plan.Plan, wave int,
		now time.Time) ([]plan.Move, []plan.Outcome)
}

// Replanner makes a new plan after some moves of a pass failed. Moves in done count against the
// limits of the pass, and began is the start of the pass.
type Replanner interface {
	Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan
}

// HintWriter writes steering hints to nodes and removes them.
type HintWriter interface {
	Put(ctx context.Context, list []hints.Hint) error
	Remove(ctx context.Context, nodes []string, which func(hints.Hint) bool) ([]string, error)
}

// StateStore keeps the planner's state between passes, restarts and leaders. Save returns an
// error if another process has written the state since Load.
type StateStore interface {
	Load(ctx context.Context) (plan.PlannerState, error)
	Save(ctx context.Context, st plan.PlannerState) error
}

// Resolver finds the outcome of evictions that an earlier process reserved but did not record.
type Resolver interface {
	Resolve(ctx context.Context, open []plan.Reservation) ([]plan.Outcome, error)
}

// Approvals provides saved plans that a person approved for execution.
type Approvals interface {
	Pending(ctx context.Context) (*approval.Request, error)
	// Claim ensures that a plan is executed at most once.
	Claim(ctx context.Context, r *approval.Request) error
	Complete(ctx context.Context, r approval.Request, report plan.RunReport) error
}

// EventPublisher publishes Kubernetes events about back-offs of workloads, pauses and breaker
// trips. A failure to publish has no effect on the pass.
type EventPublisher interface {
	BackedOff(b plan.Backoff)
	StateChanged(before, after plan.PlannerState)
}

// MetricsRecorder updates metrics.
type MetricsRecorder interface {
	RecordPass(r plan.RunReport)
	RecordSkipped(strategies []string)
}
