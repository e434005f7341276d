package controller

import (
	"context"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// loadState loads the stored state. If loading fails, a live pass returns an error, and a dry run
// continues with an empty state. A live pass also checks that the API server stores all that it writes, and closes the
// runs that earlier passes left open.
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
		p.journal.state = plan.PlannerState{}
		return nil
	case p.Mode == plan.Live && p.Records != nil:
		if err := p.Records.Client.CheckDefinitions(ctx, p.Clock.Now()); err != nil {
			code := plan.StateUnavailable
			if IsPermissionMissing(err) {
				code = plan.PermissionMissing
			}
			return codedError{code, err}
		}
	}
	st, ahead := history.ClampFuture(st, p.Clock.Now())
	if ahead > 0 {
		p.log.Warn("records of the state are from the future, so a clock was set back; they count as made now; check the clocks of the nodes",
			"records", ahead)
	}
	for _, m := range p.journal.state.Made { // the last pass may not have saved its plan
		if !slices.Contains(st.Made, m) && len(st.Made) < plan.MaxMade {
			st.Made = append(st.Made, m)
		}
	}
	p.journal.state = history.Expire(st, p.Clock.Now())
	if p.Mode != plan.Live {
		return nil
	}
	if p.timetable != nil && p.timetable.Recalled() {
		p.journal.state.StrategyRuns = p.timetable.Runs() // saved when the pass ends, or with its first reservation
	}
	p.otherRelease, p.alertReason = p.checkReleaseAndAlerts(ctx)
	p.journal.restoreUnsaved(p.Clock.Now(), p.History)
	recordState(p.Recorder, p.Mode, p.journal.state)
	return p.recoverOpenRuns(ctx)
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
	for _, run := range p.journal.state.Runs {
		var open []plan.Reservation
		for _, r := range run.Reservations {
			if r.Outcome == nil {
				open = append(open, r)
			}
		}
		report, ours := p.journal.unrecorded[run.RunID]
		if !ours {
			p.log.Warn("an earlier process ended during a pass; finding the outcomes of its evictions",
				"openRun", run.RunID, "holder", run.Holder, "unknown", len(open))
		}
		outcomes, err := p.Resolver.Resolve(ctx, open)
		if err != nil {
			return codedError{snapshotFailure(err, "").Code, fmt.Errorf("finding the outcomes of run %s, whose process ended: %w", run.RunID, err)}
		}
		if stop := p.recordOutcomes(ctx, run.RunID, outcomes); stop != nil {
			return codedError{stop.Code, fmt.Errorf("run %s, whose process ended: %s", run.RunID, stop.Message)}
		}
		if !ours {
			report = recoveryReport(p.journal.state, run.RunID, p.Clock.Now())
			p.Recorder.RecordPass(report)
			p.OnReport(report)
		}
		if p.Records != nil {
			if err := p.Records.Recovered(ctx, run.Plan, &report, run.Holder, p.journal.state.Rebalancer); err != nil {
				return codedError{plan.StateUnavailable, fmt.Errorf("storing the outcomes of run %s, whose process ended: %w", run.RunID, err)}
			}
		}
		if err := p.journal.closeRun(ctx, p.Store, p.Clock, run.RunID); err != nil {
			p.journal.unclosed[run.RunID], p.journal.closeErr = report.Outcomes, err // prevents a second report by this process
			return codedError{plan.StateUnavailable, fmt.Errorf("closing run %s, whose process ended: %w", run.RunID, err)}
		}
		delete(p.journal.unrecorded, run.RunID)
	}
	return nil
}

// checkReleaseAndAlerts returns the reasons why another release, or an alert, forbids evictions now, or nil.
func (p *pass) checkReleaseAndAlerts(ctx context.Context) (otherRelease, alert *plan.Reason) {
	if p.CheckOtherReleases != nil {
		otherRelease = p.CheckOtherReleases(ctx)
	}
	if p.FiringAlerts != nil {
		p.expectStep("asking Prometheus for alerts")
		alert = checkAlerts(ctx, p.FiringAlerts)
	}
	return otherRelease, alert
}

// reserveEvictions saves reservations for a batch before its evictions are requested. If saving fails, reserveEvictions
// returns a reason, and no eviction of the batch may be requested.
func (p *pass) reserveEvictions(ctx context.Context, moves []plan.Move) *plan.Reason {
	p.expectStep("executing a batch of evictions")
	before := p.journal.state
	p.reserved = true
	run := plan.OpenRun{RunID: p.report.RunID, Holder: p.Holder, Started: p.report.Started, Plan: p.planName}
	p.journal.state = history.Reserve(p.journal.state, run, moves, p.Clock.Now())
	if err := p.journal.save(ctx, p.Store); err != nil {
		p.journal.state = before
		return &plan.Reason{Code: plan.StateUnavailable, Message: "the evictions could not be recorded before they are requested: " + err.Error()}
	}
	return nil
}

// recordOutcomes saves the outcomes of reserved evictions. If saving fails, recordOutcomes returns the reason to stop
// the pass. The reservations then count as evictions until the outcomes are saved.
func (p *pass) recordOutcomes(ctx context.Context, runID string, outcomes []plan.Outcome) *plan.Reason {
	p.expectStep("recording evictions")
	var longest []plan.Backoff
	p.journal.state, longest = history.RecordOutcomes(p.journal.state, runID, outcomes, p.Clock.Now(), p.History)
	for _, b := range longest {
		p.log.Warn("evictions of a workload keep failing; its pods are not evicted until the back-off ends",
			"workload", b.Workload.String(), "until", b.Until, "failures", b.Failures, "last", b.Reason.Message)
		if p.Events != nil {
			p.Events.BackedOff(b)
		}
	}
	if err := p.journal.save(ctx, p.Store); err != nil {
		return &plan.Reason{Code: plan.StateUnavailable, Message: "the outcomes of evictions could not be saved: " + err.Error()}
	}
	return nil
}

// closePass saves the end of a live pass, and closes its run. If a plan of the run was not recorded, the run stays
// open, so that the next pass records it from the reservations. If saving fails, closePass keeps the outcomes and the
// breaker trip for the next pass of this process.
func (p *pass) closePass(ctx context.Context, recorded bool) {
	if p.Mode != plan.Live {
		return
	}
	run := p.report.RunID
	if p.reserved && !recorded {
		p.journal.unrecorded[run], run = p.report, ""
	}
	if err := p.journal.closeRun(ctx, p.Store, p.Clock, run); err != nil {
		p.log.Warn("the end of the pass could not be saved; the next pass tries again", "error", err)
		p.journal.trip = p.journal.state.Breaker
		if p.reserved && recorded {
			p.journal.unclosed[p.report.RunID], p.journal.closeErr = p.report.Outcomes, err
		}
		return
	}
	p.journal.trip, p.journal.closeErr, p.published.announced = nil, nil, nil
	clear(p.journal.unclosed)
}
