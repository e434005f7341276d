// Package controller runs passes. In a pass it takes a snapshot of the cluster, collects the goals of the strategies,
// has the planner make a plan, executes the plan wave by wave, and reports the result.
//
// The package decides when a pass starts and when it must stop. The package never chooses a pod to
// evict; package evictor sends the evictions.
package controller

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Settings depend only on the configuration.
type Settings struct {
	Planner    Planner
	Strategies []schedule.Strategy
	Mode       plan.Mode
	// BatchSize is the maximum number of moves between two snapshots within a wave; 0 means the
	// whole wave. See evictor.BatchSize.
	BatchSize int
	// PerPass is the limit of moves per pass. The heap grows more while a large plan is made.
	PerPass plan.CountLimit
	// MaxPlanTime bounds the time for one plan; 0 means no bound. See package work.
	MaxPlanTime time.Duration
	// StepTimeout bounds a step of a pass for CheckProgress; 0 means no bound. See the function StepTimeout.
	StepTimeout time.Duration
	// Steer is the kind of hints that passes may write. The zero value means None.
	Steer   hints.Kind
	History history.Options
	Breaker breaker.Options
	// ConfigHash identifies the configuration in effect.
	ConfigHash string
	// ValidFor is how long a plan waits for approval.
	ValidFor time.Duration
}

// Dependencies contains the interfaces through which a pass reads and changes the cluster, and reports.
type Dependencies struct {
	Clock    clock.WithTicker
	Log      *slog.Logger
	Recorder MetricsRecorder
	// NewRunID returns the ID of the next pass.
	NewRunID func() string
	// OnStep receives what a pass does now, such as planning; nil is allowed.
	OnStep func(doing string)
	// OnBatch receives the outcomes of each batch of evictions when the batch has ended; nil is allowed.
	OnBatch func(r *plan.RunReport, done []plan.Outcome)
	// OnReport receives the report of every pass.
	OnReport func(plan.RunReport)
	// RefusedInputs returns the files whose newest content is not in effect; nil means none.
	RefusedInputs func() []plan.Input
	// Trust counts how often the model predicts the bindings of schedulers;
	// nil keeps the stored counts.
	Trust *SchedulerTrust

	Observer Observer
	Evictor  evictor.Evictor
	// HintWriter writes the hints of each wave, and removes expired hints even if steering is off; nil in a dry run.
	HintWriter HintWriter
	// Store is read before every pass, and written only by passes that evict.
	Store    StateStore
	Resolver Resolver
	// Records keeps the objects of the release; nil keeps none.
	Records *records.Store
	// Holder identifies this process as the holder of the Lease.
	Holder string
	// Events publishes Kubernetes events; nil publishes none.
	Events EventPublisher
	// PauseFollowed says that a PauseFollower publishes pauses, so passes do not.
	PauseFollowed bool
	// Notifier tells people outside the cluster what changed; nil tells nobody.
	Notifier Notifier
	// CheckOtherReleases returns the reason why another release evicts instead of this one, or nil. A pass that evicts
	// calls it when the pass begins and before each batch. Nil means that there is no other release.
	CheckOtherReleases func(ctx context.Context) *plan.Reason
	// FiringAlerts returns the names of the firing alerts during which nothing may be evicted. A
	// pass that evicts calls it when the pass begins and before each batch. An error forbids
	// evictions as well. Nil means that no alert matters.
	FiringAlerts func(ctx context.Context) ([]string, error)
	// DeletedNodes returns the nodes whose deletion was seen in the last cluster.DeletedNodeWindow. Nil means that no
	// deletions are watched.
	DeletedNodes func() []cluster.DeletedNode
	// Waiting keeps the plans that wait for approval, and provides approved steps; nil keeps none, and executes none.
	Waiting WaitingPlans
	// Runs are the requests of people for a pass now; nil means that there are none. A dry run takes none.
	Runs objects.Kind[*v1alpha1.RebalanceRun, *v1alpha1.RebalanceRunList]
	// OtherDeschedulers tells people about other programs that evict; nil in a dry run.
	OtherDeschedulers *DeschedulerFollower
	// NodeEvents reports nodes that become Ready; nil means that no strategy runs after them.
	NodeEvents NodeEvents
}

// Controller runs passes with one configuration at a time.
type Controller struct {
	Settings
	Dependencies
	// StopAt is the time at which passes stop: they begin no batch of evictions later. Zero means no such time.
	StopAt time.Time
	// Reloads delivers functions that apply a new configuration to the controller. The controller
	// receives from Reloads only between passes. Nil means that the configuration never changes.
	Reloads <-chan func(*Controller)

	// These last from one pass to the next.
	journal   journal
	published published
	approved  approvedPlans
	triggered triggered
	progress  progress
	timetable *schedule.Timetable // nil outside of Run
}

// Goals returns the goals of all strategies. Goals of strategies that are not due become
// constraints. A nil due means that all strategies are due. If the Work of the snapshot ends, goals are missing, and
// the planner plans no move.
func Goals(s *cluster.Snapshot, all []schedule.Strategy, due []string) []plan.Goal {
	stated, n := make([][]plan.Goal, len(all)), 0
	for i, st := range all {
		if s.Work.Spend(len(s.Nodes) + len(s.Pods)) {
			break
		}
		stated[i] = st.Goals(s)
		n += len(stated[i])
	}
	goals := make([]plan.Goal, 0, n)
	for i, st := range all {
		for _, g := range stated[i] {
			g.Mode = st.Mode
			if due != nil && !slices.Contains(due, st.Name) {
				g.Constraint, g.Wait = true, plan.Reason{} // a constraint does not wait for anything
			}
			goals = append(goals, g)
		}
	}
	return goals
}

// Observer takes snapshots of the cluster.
type Observer interface {
	Snapshot(ctx context.Context) (*cluster.Snapshot, error)
}

// Planner makes plans and checks them again before execution.
type Planner interface {
	Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan
	// CheckLimits applies the limits to a saved plan. CheckLimits returns an outcome for each move that exceeds one.
	CheckLimits(s *cluster.Snapshot, st plan.PlannerState, p plan.Plan, now time.Time) []plan.Outcome
	// Recheck returns the moves of a wave that are still valid on a new snapshot, and an
	// outcome for each other move of the wave.
	Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, p plan.Plan, wave int,
		now time.Time) ([]plan.Move, []plan.Outcome)
	// Replan makes a new plan after some moves of a pass failed. Moves in done count against the limits of the pass.
	// began is the start of the pass.
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

// WaitingPlans keeps the plans that wait for approval. made identifies the plans that passes of the release made.
type WaitingPlans interface {
	// Changed reports whether a plan has changed since this process read or wrote it last.
	Changed(ctx context.Context, made []plan.StoredPlan) (bool, error)
	Load(ctx context.Context, made []plan.StoredPlan) (waiting.Plans, error)
	// Update changes the plans, and returns them. It may call change several times.
	Update(ctx context.Context, made []plan.StoredPlan, change func(waiting.Plans) (waiting.Plans, error)) (waiting.Plans, error)
	// Claim ensures that at most one process executes a plan at a time.
	Claim(ctx context.Context, r *waiting.Request, holder string) error
	// Interrupt drops the steps of a request that no further process may execute.
	Interrupt(ctx context.Context, r *waiting.Request, why string) error
}

// NodeEvents reports nodes that become Ready.
type NodeEvents interface {
	// LastReady returns when a node, new or known, last became Ready; zero means never.
	LastReady() time.Time
	// Changed returns a channel that delivers a value after a new event. Several events may share a value.
	Changed() <-chan struct{}
}

// EventPublisher publishes Kubernetes events about back-offs of workloads, pauses, breaker
// trips, plans that wait for approval, and passes that could judge nothing. A failure to publish has no effect on the
// pass.
type EventPublisher interface {
	// PlanWaiting publishes that a plan waits for approval, or why the plan of a pass does not.
	PlanWaiting(w plan.WaitingPlan)
	PlanNotKept(why plan.Reason)
	// PlanRefused publishes why an approved plan was not executed at all.
	PlanRefused(by plan.Approval, why plan.Reason)
	BackedOff(b plan.Backoff)
	StateChanged(before, after plan.PlannerState)
	// JudgedNothing gets the plans of the last two passes.
	JudgedNothing(before, after plan.Plan)
}

// Notifier announces conditions, such as a tripped breaker, to people outside the cluster. It never delays a pass.
type Notifier interface {
	// PassEnded gets the report of every pass and the state after it. announced identifies the conditions that were
	// announced before. The result identifies the announced conditions that still hold.
	PassEnded(announced []string, r plan.RunReport, st plan.PlannerState) []string
}

// pass is one pass, either with a new plan or with an approved plan. It has the configuration with which it began.
type pass struct {
	Settings
	Dependencies
	stopAt    time.Time
	timetable *schedule.Timetable // nil outside of Run
	// The pass changes these three, which last longer than the pass.
	journal   *journal
	published *published
	progress  *progress

	log    *slog.Logger
	due    []string // nil means all strategies
	report plan.RunReport

	snapshot *cluster.Snapshot // the last snapshot: a pass of a large cluster keeps only one
	hints    passHints
	// breakerBaseline is the health of the cluster when the pass began.
	breakerBaseline breaker.Baseline
	// otherRelease says which other release evicts instead of this one.
	otherRelease *plan.Reason
	// alertReason says which alert forbids evictions, or why the alerts are unknown.
	alertReason *plan.Reason
	// breakerReason says why the breaker blocks this pass.
	breakerReason *plan.Reason
	// loadErr says why a dry run plans without the stored state.
	loadErr error
	// reserved is set once the pass has tried to reserve evictions.
	reserved bool
	// planName is the name of the object with the first plan of the pass, or "".
	planName string
	// approved is the request that the pass executes, or nil.
	approved *waiting.Request
}

func (c *Controller) newPass(due []string) *pass {
	r := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: c.NewRunID(), Mode: c.Mode, Due: due,
		Started: c.Clock.Now().UTC(), Outcomes: []plan.Outcome{}}
	if c.RefusedInputs != nil {
		r.Inputs = c.RefusedInputs()
	}
	log := c.Log.With("run", r.RunID)
	return &pass{Settings: c.Settings, Dependencies: c.Dependencies, stopAt: c.StopAt, timetable: c.timetable,
		journal: &c.journal, published: &c.published, progress: &c.progress, log: log, due: due, report: r,
		hints: passHints{Settings: c.Settings, writer: c.HintWriter, run: r.RunID, clock: c.Clock, log: log}}
}

func droppedOutcomes(moves []plan.Move, why plan.Reason) []plan.Outcome {
	var out []plan.Outcome
	for _, m := range moves {
		out = append(out, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: why})
	}
	return out
}

// dropRemaining records that the moves without an outcome were not tried, with the code of the reason that stopped the
// pass. The report contains the message of that reason once.
func (p *pass) dropRemaining(todo plan.Plan, why *plan.Reason) {
	done := map[int]bool{}
	for _, o := range p.report.Outcomes {
		done[o.Step] = true
	}
	remaining := slices.DeleteFunc(slices.Clone(todo.Moves), func(m plan.Move) bool { return done[m.Step] })
	p.report.Outcomes = append(p.report.Outcomes, droppedOutcomes(remaining,
		plan.Reason{Code: why.Code, Message: "not tried: the pass had stopped"})...)
}

type codedError struct {
	code plan.Code
	error
}

// Unwrap returns the cause.
func (e codedError) Unwrap() error { return e.error }

// IsPermissionMissing reports whether the API server denied a request, or rejected the credentials.
func IsPermissionMissing(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// snapshotFailure returns the reason to report for a failed snapshot. The message of the reason is
// doing followed by the error.
func snapshotFailure(err error, doing string) *plan.Reason {
	code := plan.APIError
	switch stale := (*observe.StaleError)(nil); {
	case errors.As(err, &stale):
		code = plan.ClusterViewStale
	case IsPermissionMissing(err):
		code = plan.PermissionMissing
	}
	return &plan.Reason{Code: code, Message: doing + err.Error()}
}
