// Package controller runs passes: it observes the cluster, has goals stated and
// a plan made, has the plan carried out wave by wave, and reports.
//
// It decides when a pass happens and when it must stop. It never picks a pod
// and never calls the API about one.
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
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Observer makes snapshots of the cluster.
type Observer interface {
	Snapshot(ctx context.Context) (*cluster.Snapshot, error)
}

// Planner answers goals with a plan, and judges a wave of it again.
type Planner interface {
	Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan
	Admit(s *cluster.Snapshot, st plan.PlannerState, p plan.Plan, now time.Time) []plan.Outcome
	Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, p plan.Plan, wave int, now time.Time) ([]plan.Move, []plan.Outcome)
}

// Recorder takes notes of passes, for metrics.
type Recorder interface {
	RecordPass(r plan.RunReport)
	RecordBenefits(of map[string]plan.Benefit)
	RecordSkipped(strategies []string)
}

// Controller runs passes with one configuration.
type Controller struct {
	Observer Observer
	Planner  Planner
	// Replanner plans for what a pass has left where not all came as planned; nil: that is
	// left to the next pass.
	Replanner  Replanner
	Evictor    evictor.Evictor
	Strategies []config.ScheduledStrategy
	Mode       plan.Mode
	Clock      clock.WithTicker
	Log        *slog.Logger
	Recorder   Recorder
	// NewRunID names a pass.
	NewRunID func() string
	// BatchSize is how many moves are begun between two looks at the cluster; 0
	// means a whole wave. See evictor.BatchSize.
	BatchSize int
	// HintWriter writes the hints that waves need, and takes away what a process that
	// was killed left, also when steering is off; nil in a dry run. HintTTL is how
	// long hints may outlive this process.
	HintWriter HintWriter
	HintTTL    time.Duration
	// Trust counts how well schedulers without a profile are foretold; nil keeps
	// the counts that there are.
	Trust *SchedulerTrust
	// OnReport takes the report of every pass.
	OnReport func(plan.RunReport)
	// Reloads hands over what sets the fields above by a new configuration. It is
	// received from between passes only; nil when nothing can change.
	Reloads <-chan func(*Controller)
	// RefusedInputs are the files whose newest content is not in effect, for reports;
	// nil for none.
	RefusedInputs func() []plan.Input
	// Store is read before every pass, and written where evictions are made;
	// Resolver looks into those that a process that ended left open.
	Store    StateStore
	Resolver Resolver
	History  history.Options
	// Holder is this process, as the Lease names it.
	Holder   string
	Breaker  breaker.Options
	Benefits history.BenefitOptions
	// Events tells people what the memory comes to; nil for nobody.
	Events Events
	// Approvals are saved plans that somebody wants carried out; nil for none.
	Approvals Approvals
	// ConfigHash is that of the configuration in effect.
	ConfigHash string

	state           plan.PlannerState
	lastEventState  plan.PlannerState // what Events were last told
	breakerBaseline breaker.Base      // what was amiss when the pass began
	breakerReason   *plan.Reason      // why the breaker lets no pass begin
	loadErr         error             // why a dry run goes without what is remembered
	// unsavedTrip is one that could not be noted down.
	unsavedTrip *plan.BreakerTrip
	// unsavedRuns are the outcomes of passes that have been reported, though that
	// could not be noted down; notSaved is why.
	unsavedRuns map[string][]plan.Outcome
	saveErr     error
	// reservedRun is the pass that last reserved evictions, or tried to.
	reservedRun string
	// leftoverHints are nodes off which this pass could not take its hints.
	leftoverHints []string
}

// Events tells people of workloads that are given up, and of what holds evictions
// or does no longer. Failing to must not matter.
type Events interface {
	BackedOff(b plan.Backoff)
	StateChanged(before, after plan.PlannerState)
}

// Goals asks every strategy. Those of strategies that are not in due become
// constraints; a nil due means all.
func Goals(s *cluster.Snapshot, all []config.ScheduledStrategy, due []string) []plan.Goal {
	var goals []plan.Goal
	for _, st := range all {
		for _, g := range st.Strategy.Goals(s) {
			if due != nil && !slices.Contains(due, st.Name) {
				g.Constraint, g.WaitReason = true, "" // nobody asks for it, however long it lasts
			}
			goals = append(goals, g)
		}
	}
	return goals
}

// RunOnce is one pass: observe, state goals, plan, and wave by wave look again,
// evict, verify; once more where not all came as planned. The error says why nothing could
// be planned; the report, which is handed over in any case, says so too. Unclosed tells
// what is left behind.
func (c *Controller) RunOnce(ctx context.Context, due []string) (plan.RunReport, error) {
	report := c.newReport()
	log := c.Log.With("run", report.RunID)
	c.leftoverHints = nil
	if err := c.loadState(ctx, log); err != nil {
		c.reportFailure(ctx, &report, err)
		return report, err
	}
	snapshot, err := c.Observer.Snapshot(ctx)
	if err == nil {
		snapshot, err = c.removeExpiredHints(ctx, log, snapshot)
	}
	if err != nil {
		c.reportFailure(ctx, &report, err)
		return report, err
	}
	c.updateSchedulerCounts()
	c.checkBreaker(snapshot)
	begun := c.Clock.Now()
	goals := Goals(snapshot, c.Strategies, due)
	report.Plan = c.markStateUnknown(c.Planner.Plan(snapshot, c.state, goals, snapshot.TakenAt))
	log.Info("planned", "strategies", due, "moves", len(report.Plan.Moves), "lowerBound", report.Plan.Bound.MinForPlan, "mode", c.Mode,
		"observing", begun.Sub(report.Started), "planning", c.Clock.Now().Sub(begun))

	if report.Stopped = c.blockedReason(); report.Stopped != nil {
		c.dropRemaining(&report, report.Stopped)
		return c.reportPass(ctx, log, report), nil
	}
	report.Stopped = c.executeWaves(ctx, log, &report, due)
	c.measureBenefit(ctx, log, &report, planner.GoalState{Snapshot: snapshot, Goals: goals}, due)
	c.replan(ctx, log, &report, due)
	return c.reportPass(ctx, log, report), nil
}

func (c *Controller) newReport() plan.RunReport {
	r := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: c.NewRunID(), Mode: c.Mode, Started: c.Clock.Now().UTC(), Outcomes: []plan.Outcome{}}
	if c.RefusedInputs != nil {
		r.Inputs = c.RefusedInputs()
	}
	return r
}

// reportPass reports a pass, and only then forgets what it reserved.
func (c *Controller) reportPass(ctx context.Context, log *slog.Logger, report plan.RunReport) plan.RunReport {
	report.Finished = c.Clock.Now().UTC()
	slices.SortStableFunc(report.Outcomes, func(a, b plan.Outcome) int { return a.Step - b.Step })
	c.Recorder.RecordPass(report)
	c.Recorder.RecordBenefits(c.state.Benefits)
	c.emitEvents()
	c.OnReport(report)
	c.closePass(ctx, log, &report)
	return report
}
