package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// saveTimeout bounds one save of the state. A save continues after SIGTERM, because the next
// leader must know the outcomes of evictions.
const saveTimeout = 10 * time.Second

// ShutdownTimeout is how long a pass may continue after ctx has ended, if it has no hints on nodes.
// In this time the evictions of the pass end, the pass saves their outcomes and closes its run, and the leader stores
// the report of an approved plan.
// The chart's terminationGracePeriodSeconds is longer.
const ShutdownTimeout = evictor.ShutdownTimeout + 3*saveTimeout

// closeRun tries up to closeAttempts times, and waits closeRetryDelay between attempts.
const (
	closeAttempts   = 3
	closeRetryDelay = 2 * time.Second
)

// loadState loads the stored state. If loading fails, a live pass returns an error, and a dry run
// continues with an empty state. A live pass also closes the runs that earlier passes left open.
func (p *pass) loadState(ctx context.Context) error {
	p.expectStep("reading the state")
	st, err := p.Store.Load(ctx)
	p.loadErr = err
	switch {
	case err != nil && p.Mode == plan.Live:
		return codedError{plan.StateUnavailable, fmt.Errorf("reading the stored state of earlier passes: %w", err)}
	case err != nil:
		p.log.Warn("the stored state of earlier passes could not be read; this dry run ignores back-offs and evictions of the last hour",
			"error", err)
		p.state = plan.PlannerState{}
		return nil
	}
	st, ahead := history.ClampFuture(st, p.Clock.Now())
	if ahead > 0 {
		p.log.Warn("records of the state are from the future, so a clock was set back; they count as made now; check the clocks of the nodes",
			"records", ahead)
	}
	p.state = history.Expire(st, p.Clock.Now(), p.History)
	if p.Mode != plan.Live {
		return nil
	}
	if p.timetable != nil && p.recalled {
		p.state.StrategyRuns = p.timetable.Runs() // saved when the pass ends, or with its first reservation
	}
	p.otherRelease, p.alertReason = p.checkOtherReleases(ctx), p.checkAlerts(ctx)
	p.restoreUnsaved()
	recordState(p.Controller, p.state)
	return p.recoverOpenRuns(ctx)
}

// restoreUnsaved adds to the loaded state the changes that earlier passes of this process could not save.
// restoreUnsaved saves nothing, and it forgets runs that are no longer open in the stored state.
func (c *Controller) restoreUnsaved() {
	if c.state.Breaker == nil {
		c.state.Breaker = c.unsaved.trip
	}
	open := map[string][]plan.Outcome{}
	for _, r := range c.state.Runs {
		if outcomes, ours := c.unsaved.runs[r.RunID]; ours {
			c.state, _ = history.RecordOutcomes(c.state, r.RunID, outcomes, c.Clock.Now(), c.History)
			c.state = history.CloseRun(c.state, r.RunID)
			open[r.RunID] = outcomes
		}
	}
	c.unsaved.runs = open
}

// markStateUnknown adds an input to a plan that was made without the stored state. A back-off
// or an hourly limit could forbid moves of such a plan.
func (p *pass) markStateUnknown(made plan.Plan) plan.Plan {
	if p.loadErr == nil {
		return made
	}
	made.Inputs = append(slices.Clone(made.Inputs), plan.UnknownStateInput("0s", p.loadErr.Error()))
	made.ID = plan.ContentID(made)
	return made
}

// recoverOpenRuns finds the outcomes of runs that other processes left open, reports these
// runs and closes them. This process holds the Lease, so no other pass is running. A workload
// backs off if one of its pods is gone and no process saw the replacement Ready.
func (p *pass) recoverOpenRuns(ctx context.Context) error {
	for _, run := range p.state.Runs {
		var open []plan.Reservation
		for _, r := range run.Reservations {
			if r.Outcome == nil {
				open = append(open, r)
			}
		}
		p.log.Warn("an earlier process ended during a pass; finding the outcomes of its evictions",
			"openRun", run.RunID, "holder", run.Holder, "unknown", len(open))
		outcomes, err := p.Resolver.Resolve(ctx, open)
		if err != nil {
			return codedError{snapshotFailure(err, "").Code, fmt.Errorf("finding the outcomes of run %s, whose process ended: %w", run.RunID, err)}
		}
		if stop := p.recordOutcomes(ctx, run.RunID, outcomes); stop != nil {
			return codedError{stop.Code, fmt.Errorf("run %s, whose process ended: %s", run.RunID, stop.Message)}
		}
		report := p.recoveryReport(run.RunID)
		p.Recorder.RecordPass(report)
		p.OnReport(report)
		if err := p.closeRun(ctx, run.RunID); err != nil {
			p.unsaved.runs[run.RunID], p.unsaved.err = report.Outcomes, err // prevents a second report by this process
			return codedError{plan.StateUnavailable, fmt.Errorf("closing run %s, whose process ended: %w", run.RunID, err)}
		}
	}
	return nil
}

// recoveryReport returns the report of a run whose process ended before it closed the run. The
// ended process may have written a report as well.
func (c *Controller) recoveryReport(runID string) plan.RunReport {
	report := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: runID, Mode: plan.Live,
		Finished: c.Clock.Now().UTC(), Outcomes: []plan.Outcome{}}
	i := slices.IndexFunc(c.state.Runs, func(r plan.OpenRun) bool { return r.RunID == runID })
	if i < 0 {
		return report
	}
	run := c.state.Runs[i]
	report.Started, report.Plan, report.Recovery = run.Started, history.PartialPlan(run), &plan.Recovery{Holder: run.Holder}
	for _, r := range run.Reservations {
		report.Outcomes = append(report.Outcomes, *r.Outcome)
	}
	report.Stopped = &plan.Reason{Code: plan.Interrupted, Message: fmt.Sprintf(
		"the process of this pass (%s) ended before it recorded the end of the pass; the next process found these outcomes of its reservations",
		run.Holder)}
	return report
}

func (c *Controller) checkOtherReleases(ctx context.Context) *plan.Reason {
	if c.CheckOtherReleases == nil {
		return nil
	}
	return c.CheckOtherReleases(ctx)
}

// reserveEvictions saves reservations for a batch before its evictions are requested. If saving fails, reserveEvictions
// returns a reason, and no eviction of the batch may be requested.
func (p *pass) reserveEvictions(ctx context.Context, moves []plan.Move) *plan.Reason {
	p.expectStep("executing a batch of evictions")
	before := p.state
	p.reserved = true
	run := plan.OpenRun{RunID: p.report.RunID, Holder: p.Holder, Started: p.report.Started}
	p.state = history.Reserve(p.state, run, moves, p.Clock.Now())
	if err := p.saveState(ctx); err != nil {
		p.state = before
		return &plan.Reason{Code: plan.StateUnavailable, Message: "the evictions could not be recorded before they are requested: " + err.Error()}
	}
	return nil
}

// recordOutcomes saves the outcomes of reserved evictions. If saving fails, recordOutcomes returns the reason to stop
// the pass. The reservations then count as evictions until the outcomes are saved.
func (c *Controller) recordOutcomes(ctx context.Context, runID string, outcomes []plan.Outcome) *plan.Reason {
	c.expectStep("recording evictions")
	var longest []plan.Backoff
	c.state, longest = history.RecordOutcomes(c.state, runID, outcomes, c.Clock.Now(), c.History)
	for _, b := range longest {
		c.Log.Warn("evictions of a workload keep failing; its pods are not evicted until the back-off ends",
			"workload", b.Workload.String(), "until", b.Until, "failures", b.Failures, "last", b.Reason.Message)
		if c.Events != nil {
			c.Events.BackedOff(b)
		}
	}
	if err := c.saveState(ctx); err != nil {
		return &plan.Reason{Code: plan.StateUnavailable, Message: "the outcomes of evictions could not be saved: " + err.Error()}
	}
	return nil
}

// closeRun removes a reported run from the stored state. It retries, because this may be the last action of the
// process. All attempts together take at most saveTimeout, so the time after SIGTERM stays bounded.
func (c *Controller) closeRun(ctx context.Context, runID string) error {
	c.state = history.CloseRun(c.state, runID)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := c.Store.Save(call, c.state)
		if err == nil || attempt == closeAttempts || !wait.Sleep(call, c.Clock, closeRetryDelay) {
			return err
		}
	}
}

// closePass closes the run of a live pass. If closing fails, closePass keeps the outcomes and the breaker trip for the
// next pass of this process.
func (p *pass) closePass(ctx context.Context) {
	if p.Mode != plan.Live {
		return
	}
	if err := p.closeRun(ctx, p.report.RunID); err != nil {
		p.log.Warn("the end of the pass could not be saved; the next pass tries again", "error", err)
		p.unsaved.trip = p.state.Breaker
		if p.reserved {
			p.unsaved.runs[p.report.RunID], p.unsaved.err = p.report.Outcomes, err
		}
		return
	}
	p.unsaved.trip, p.unsaved.err, p.unsaved.announced = nil, nil, nil
	clear(p.unsaved.runs)
}

// UnclosedRuns returns an error if this process reported runs but could not close them. Later
// passes close them. A process must return this error when it ends.
func (c *Controller) UnclosedRuns() error {
	if len(c.unsaved.runs) == 0 || c.unsaved.err == nil {
		return nil
	}
	return fmt.Errorf("run %s is over and reported, but its end could not be saved in %d attempts: %w; check that the API server accepts "+
		"writes, "+
		"and that this account may get, create and update the ConfigMaps evenkeel-state-*. Until then its reservations count as evictions. "+
		"The next process that evicts finds the outcomes of the open runs and reports each run again, with the same run ID and marked as a "+
		"recovery",
		strings.Join(slices.Sorted(maps.Keys(c.unsaved.runs)), ", "), closeAttempts, c.unsaved.err)
}

func (c *Controller) saveState(ctx context.Context) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return c.Store.Save(call, c.state)
}
