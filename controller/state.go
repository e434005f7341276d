package controller

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// StateStore keeps the planner's state from pass to pass, also across restarts and
// changes of leader. Save refuses when another process has written since Load.
type StateStore interface {
	Load(ctx context.Context) (plan.PlannerState, error)
	Save(ctx context.Context, st plan.PlannerState) error
}

// Resolver finds out what became of evictions that were reserved by a process
// that has ended.
type Resolver interface {
	Resolve(ctx context.Context, open []plan.Reservation) ([]plan.Outcome, error)
}

// saveTimeout bounds writing the memory, also after SIGTERM: what became of
// evictions must be known to whoever comes next.
const saveTimeout = 10 * time.Second

// ShutdownTimeout is how long a pass goes on at most once ctx has ended and no hints stand
// on nodes: evictions end, what became of them is noted, the pass is closed. The
// pods of the chart have that long and more (terminationGracePeriodSeconds).
const ShutdownTimeout = evictor.ShutdownTimeout + 2*saveTimeout

// closeAttempts and closeRetryDelay are how often, and how far apart, a pass is closed
// where that fails.
const (
	closeAttempts   = 3
	closeRetryDelay = 2 * time.Second
)

// loadState reads the memory. A pass that evicts needs it, and first settles what
// earlier passes left open; a dry run does without, and says so.
func (c *Controller) loadState(ctx context.Context, log *slog.Logger) error {
	st, err := c.Store.Load(ctx)
	c.loadErr = err
	switch {
	case err != nil && c.Mode == plan.Live:
		return codedError{plan.StateUnavailable, fmt.Errorf("reading what is remembered of former passes: %w", err)}
	case err != nil:
		log.Warn("what is remembered of former passes could not be read; the plan does without back-offs and hourly counts", "error", err)
		c.state = plan.PlannerState{}
		return nil
	}
	now := c.Clock.Now()
	c.state = history.Expire(st, now, c.History)
	if c.Mode != plan.Live {
		return nil
	}
	if c.state.Breaker == nil {
		c.state.Breaker = c.unsavedTrip
	}
	open := map[string][]plan.Outcome{}
	for _, r := range c.state.Runs {
		if out, ours := c.unsavedRuns[r.RunID]; ours { // reported, but not noted down
			c.state, _ = history.Settle(c.state, r.RunID, out, now, c.History)
			c.state = history.Close(c.state, r.RunID)
			open[r.RunID] = out
		}
	}
	c.unsavedRuns = open
	return c.recoverOpenRuns(ctx, log)
}

// markStateUnknown says in a plan that it was made without what is remembered: it may have
// moves that a back-off or an hourly limit would hold back.
func (c *Controller) markStateUnknown(p plan.Plan) plan.Plan {
	if c.loadErr == nil {
		return p
	}
	p.Inputs = append(slices.Clone(p.Inputs), plan.UnknownStateInput("0s", c.loadErr.Error()))
	p.ID = plan.ContentID(p)
	return p
}

// recoverOpenRuns reports the passes of processes that ended in the middle of one: this
// process holds the Lease, so that no other pass is under way. Workloads of
// which a pod went, with nobody to see its replacement Ready, rest.
func (c *Controller) recoverOpenRuns(ctx context.Context, log *slog.Logger) error {
	for _, run := range c.state.Runs {
		var open []plan.Reservation
		for _, r := range run.Reservations {
			if r.Outcome == nil {
				open = append(open, r)
			}
		}
		log.Warn("a former process ended in the middle of a pass; its evictions are looked into", "run", run.RunID, "holder", run.Holder, "unknown", len(open))
		outcomes, err := c.Resolver.Resolve(ctx, open)
		if err != nil {
			return codedError{snapshotFailure(err, "").Code, fmt.Errorf("finding out what became of the evictions of run %s, whose process ended: %w", run.RunID, err)}
		}
		if stop := c.recordOutcomes(ctx, run.RunID, outcomes); stop != nil {
			return codedError{stop.Code, fmt.Errorf("run %s, whose process ended: %s", run.RunID, stop.Message)}
		}
		report := c.recoveryReport(run.RunID)
		c.Recorder.RecordPass(report)
		c.OnReport(report)
		if err := c.closeRun(ctx, run.RunID); err != nil {
			c.unsavedRuns[run.RunID], c.saveErr = report.Outcomes, err // this process reports it no more
			return codedError{plan.StateUnavailable, fmt.Errorf("closing run %s, whose process ended: %w", run.RunID, err)}
		}
	}
	return nil
}

// recoveryReport is the report that a process that ended could not write, or had
// written when it ended.
func (c *Controller) recoveryReport(runID string) plan.RunReport {
	report := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: runID, Mode: plan.Live, Finished: c.Clock.Now().UTC(), Outcomes: []plan.Outcome{}}
	for _, run := range c.state.Runs {
		if run.RunID != runID {
			continue
		}
		report.Started = run.Started
		report.Plan = history.PlanOf(run)
		for _, r := range run.Reservations {
			report.Outcomes = append(report.Outcomes, *r.Outcome)
		}
		report.Recovery = &plan.Recovery{Holder: run.Holder}
		report.Stopped = &plan.Reason{Code: plan.Interrupted, Message: fmt.Sprintf(
			"the process that made this pass (%s) ended before it could note that the pass was over; this is what it had reserved, as found by the next", run.Holder)}
	}
	return report
}

// reserveEvictions notes the evictions of a wave before the first is asked for.
func (c *Controller) reserveEvictions(ctx context.Context, report *plan.RunReport, moves []plan.Move) *plan.Reason {
	before := c.state
	c.reservedRun = report.RunID
	run := plan.OpenRun{RunID: report.RunID, Holder: c.Holder, Started: report.Started}
	c.state = history.Reserve(c.state, run, moves, c.Clock.Now())
	if err := c.saveState(ctx); err != nil {
		c.state = before
		return &plan.Reason{Code: plan.StateUnavailable, Message: "evictions could not be noted down before they are made: " + err.Error()}
	}
	return nil
}

// recordOutcomes notes what became of evictions. When that cannot be written, nothing
// more may be evicted; they count as made until it is.
func (c *Controller) recordOutcomes(ctx context.Context, runID string, outcomes []plan.Outcome) *plan.Reason {
	var gaveUp []plan.Backoff
	c.state, gaveUp = history.Settle(c.state, runID, outcomes, c.Clock.Now(), c.History)
	for _, b := range gaveUp {
		c.Log.Warn("a workload will not settle; its pods are left alone for now", "workload", b.Workload.String(), "until", b.Until, "failures", b.Failures, "last", b.Reason.Message)
		if c.Events != nil {
			c.Events.BackedOff(b)
		}
	}
	if err := c.saveState(ctx); err != nil {
		return &plan.Reason{Code: plan.StateUnavailable, Message: "what became of evictions could not be noted down: " + err.Error()}
	}
	return nil
}

// closeRun forgets a pass that has been reported. It is tried a few times, since it
// may be the last that this process does, in the time of one save: what comes
// after SIGTERM must not grow.
func (c *Controller) closeRun(ctx context.Context, runID string) error {
	c.state = history.Close(c.state, runID)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := c.Store.Save(call, c.state)
		if err == nil || try == closeAttempts || !c.sleepUntil(call, c.Clock.Now().Add(closeRetryDelay)) {
			return err
		}
	}
}

// closePass closes this pass, if it reserved anything. What it cannot write it keeps
// for the next pass of this process.
func (c *Controller) closePass(ctx context.Context, log *slog.Logger, report *plan.RunReport) {
	if c.Mode != plan.Live {
		return
	}
	if err := c.closeRun(ctx, report.RunID); err != nil {
		log.Warn("that the pass is over could not be noted down; the next one will", "error", err)
		c.unsavedTrip = c.state.Breaker
		if c.reservedRun == report.RunID {
			c.unsavedRuns[report.RunID], c.saveErr = report.Outcomes, err
		}
		return
	}
	c.unsavedTrip, c.saveErr = nil, nil
	clear(c.unsavedRuns)
}

// UnclosedRuns is an error where passes that were reported stay open in the memory.
// Passes to come close them; a process that ends must not end as if all were well.
func (c *Controller) UnclosedRuns() error {
	if len(c.unsavedRuns) == 0 || c.saveErr == nil {
		return nil
	}
	return fmt.Errorf("run %s is over and reported, but that could not be noted down in %d tries: %w; see that the API server can write, and that this account may get, create and update the ConfigMaps evenkeel-state-*. "+
		"Its evictions count as made until then. The next process that evicts looks into those that it finds open, and reports the run once more: by the same runID, marked as a recovery",
		strings.Join(slices.Sorted(maps.Keys(c.unsavedRuns)), ", "), closeAttempts, c.saveErr)
}

func (c *Controller) saveState(ctx context.Context) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return c.Store.Save(call, c.state)
}
