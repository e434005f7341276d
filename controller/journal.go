package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// saveTimeout bounds one save of the state. A save continues after SIGTERM, because the next
// leader must know the outcomes of evictions.
const saveTimeout = 10 * time.Second

// ShutdownTimeout is how long a pass may continue after ctx has ended, if it has no hints on nodes.
// In this time the evictions of the pass end, the pass saves their outcomes, closes its run and writes its objects,
// and the leader stores the result of a request for a pass.
// The chart's terminationGracePeriodSeconds is longer.
const ShutdownTimeout = evictor.ShutdownTimeout + 3*saveTimeout + recordsTimeout

// closeRun tries up to closeAttempts times, and waits closeRetryDelay between attempts.
const (
	closeAttempts   = 3
	closeRetryDelay = 2 * time.Second
)

// journal is the stored state as this process knows it, with what its passes could not save. A pass reserves evictions
// in the journal before it requests them.
type journal struct {
	state plan.PlannerState
	// trip is a breaker trip that could not be saved.
	trip *plan.BreakerTrip
	// unclosed contains, by run ID, the outcomes of passes that were reported but not closed.
	unclosed map[string][]plan.Outcome
	closeErr error // why the last close failed
	// unrecorded contains, by run ID, the reports of passes that are still open because a plan was not recorded.
	unrecorded map[string]plan.RunReport
	// noneWaiting is set once no plan of an earlier configuration can wait for approval.
	noneWaiting bool
	// stepsApproved is set while approved steps are not executed yet.
	stepsApproved bool
}

// restoreUnsaved adds to the loaded state the changes that earlier passes of this process could not save.
// restoreUnsaved saves nothing, and it forgets runs that are no longer open in the stored state.
func (j *journal) restoreUnsaved(now time.Time, o history.Options) {
	if j.state.Breaker == nil {
		j.state.Breaker = j.trip
	}
	open := map[string][]plan.Outcome{}
	for _, r := range j.state.Runs {
		if outcomes, ours := j.unclosed[r.RunID]; ours {
			j.state, _ = history.RecordOutcomes(j.state, r.RunID, outcomes, now, o)
			j.state = history.CloseRun(j.state, r.RunID)
			open[r.RunID] = outcomes
		}
	}
	if j.unclosed = open; j.unrecorded == nil {
		j.unrecorded = map[string]plan.RunReport{}
	}
}

func (j *journal) save(ctx context.Context, store StateStore) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return store.Save(call, j.state)
}

// closeRun saves the state without a reported run; "" keeps all open runs. It tries up to closeAttempts times, because
// this may be the last action of the process. All attempts together take at most saveTimeout, so the time after SIGTERM
// stays bounded.
func (j *journal) closeRun(ctx context.Context, store StateStore, on clock.WithTicker, runID string) error {
	j.state = history.CloseRun(j.state, runID)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := store.Save(call, j.state)
		if err == nil || attempt == closeAttempts || !wait.Sleep(call, on, closeRetryDelay) {
			return err
		}
	}
}

// UnclosedRuns returns an error if this process reported runs but could not close them. Later
// passes close them. A process must return this error when it ends.
func (c *Controller) UnclosedRuns() error {
	if len(c.journal.unclosed) == 0 || c.journal.closeErr == nil {
		return nil
	}
	return fmt.Errorf("run %s is over and reported, but its end could not be saved in %d attempts: %w; check that the API server accepts "+
		"writes, "+
		"and that this account may get, create and update the ConfigMaps evenkeel-state-*. Until then its reservations count as evictions. "+
		"The next process that evicts finds the outcomes of the open runs and reports each run again, with the same run ID and marked as a "+
		"recovery",
		strings.Join(slices.Sorted(maps.Keys(c.journal.unclosed)), ", "), closeAttempts, c.journal.closeErr)
}

// recoveryReport returns the report of a run whose process ended before it closed the run. The
// ended process may have written a report as well.
func recoveryReport(st plan.PlannerState, runID string, now time.Time) plan.RunReport {
	report := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: runID, Mode: plan.Live,
		Finished: now.UTC(), Outcomes: []plan.Outcome{}}
	i := slices.IndexFunc(st.Runs, func(r plan.OpenRun) bool { return r.RunID == runID })
	if i < 0 {
		return report
	}
	run := st.Runs[i]
	report.Started, report.Plan, report.Recovery = run.Started, history.PartialPlan(run), &plan.Recovery{Holder: run.Holder}
	for _, r := range run.Reservations {
		o := *r.Outcome
		o.SetTime(r.At)
		report.Outcomes = append(report.Outcomes, o)
	}
	report.Stopped = &plan.Reason{Code: plan.Interrupted, Message: fmt.Sprintf(
		"the process of this pass (%s) ended before it recorded the end of the pass; the next process found these outcomes of its reservations",
		run.Holder)}
	return report
}
