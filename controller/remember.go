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

// Memory keeps the planner's state from pass to pass, also across restarts and
// changes of leader. Save refuses when another process has written since Load.
type Memory interface {
	Load(ctx context.Context) (plan.PlannerState, error)
	Save(ctx context.Context, st plan.PlannerState) error
}

// Resolver finds out what became of evictions that were reserved by a process
// that has ended.
type Resolver interface {
	Resolve(ctx context.Context, open []plan.Reservation) ([]plan.Outcome, error)
}

// saveTime bounds writing the memory, also after SIGTERM: what became of
// evictions must be known to whoever comes next.
const saveTime = 10 * time.Second

// EndTime is how long a pass goes on at most once ctx has ended and no hints stand
// on nodes: evictions end, what became of them is noted, the pass is closed. The
// pods of the chart have that long and more (terminationGracePeriodSeconds).
const EndTime = evictor.EndTime + 2*saveTime

// closeTries and closeStep are how often, and how far apart, a pass is closed
// where that fails.
const (
	closeTries = 3
	closeStep  = 2 * time.Second
)

// recall reads the memory. A pass that evicts needs it, and first settles what
// earlier passes left open; a dry run does without, and says so.
func (c *Controller) recall(ctx context.Context, log *slog.Logger) error {
	st, err := c.Memory.Load(ctx)
	c.unread = err
	switch {
	case err != nil && c.Mode == plan.Live:
		return blocked{plan.StateUnavailable, fmt.Errorf("reading what is remembered of former passes: %w", err)}
	case err != nil:
		log.Warn("what is remembered of former passes could not be read; the plan does without back-offs and hourly counts", "error", err)
		c.state = plan.PlannerState{}
		return nil
	}
	now := c.Clock.Now()
	c.state = history.Expire(st, now, c.Ledger)
	if c.Mode != plan.Live {
		return nil
	}
	if c.state.Breaker == nil {
		c.state.Breaker = c.lostTrip
	}
	open := map[string][]plan.Outcome{}
	for _, r := range c.state.Runs {
		if out, ours := c.unsaved[r.RunID]; ours { // reported, but not noted down
			c.state, _ = history.Settle(c.state, r.RunID, out, now, c.Ledger)
			c.state = history.Close(c.state, r.RunID)
			open[r.RunID] = out
		}
	}
	c.unsaved = open
	return c.recover(ctx, log)
}

// remembering says in a plan that it was made without what is remembered: it may have
// moves that a back-off or an hourly limit would hold back.
func (c *Controller) remembering(p plan.Plan) plan.Plan {
	if c.unread == nil {
		return p
	}
	p.Inputs = append(slices.Clone(p.Inputs), plan.UnknownStateInput("0s", c.unread.Error()))
	p.ID = plan.ContentID(p)
	return p
}

// recover reports the passes of processes that ended in the middle of one: this
// process holds the Lease, so that no other pass is under way. Workloads of
// which a pod went, with nobody to see its replacement Ready, rest.
func (c *Controller) recover(ctx context.Context, log *slog.Logger) error {
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
			return blocked{unseen(err, "").Code, fmt.Errorf("finding out what became of the evictions of run %s, whose process ended: %w", run.RunID, err)}
		}
		if stop := c.settle(ctx, run.RunID, outcomes); stop != nil {
			return blocked{stop.Code, fmt.Errorf("run %s, whose process ended: %s", run.RunID, stop.Message)}
		}
		report := c.recovered(run.RunID)
		c.Recorder.Pass(report)
		c.OnReport(report)
		if err := c.close(ctx, run.RunID); err != nil {
			c.unsaved[run.RunID], c.notSaved = report.Outcomes, err // this process reports it no more
			return blocked{plan.StateUnavailable, fmt.Errorf("closing run %s, whose process ended: %w", run.RunID, err)}
		}
	}
	return nil
}

// recovered is the report that a process that ended could not write, or had
// written when it ended.
func (c *Controller) recovered(runID string) plan.RunReport {
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

// reserve notes the evictions of a wave before the first is asked for.
func (c *Controller) reserve(ctx context.Context, report *plan.RunReport, moves []plan.Move) *plan.Reason {
	before := c.state
	c.opened = report.RunID
	run := plan.OpenRun{RunID: report.RunID, Holder: c.Holder, Started: report.Started}
	c.state = history.Reserve(c.state, run, moves, c.Clock.Now())
	if err := c.save(ctx); err != nil {
		c.state = before
		return &plan.Reason{Code: plan.StateUnavailable, Message: "evictions could not be noted down before they are made: " + err.Error()}
	}
	return nil
}

// settle notes what became of evictions. When that cannot be written, nothing
// more may be evicted; they count as made until it is.
func (c *Controller) settle(ctx context.Context, runID string, outcomes []plan.Outcome) *plan.Reason {
	var gaveUp []plan.Backoff
	c.state, gaveUp = history.Settle(c.state, runID, outcomes, c.Clock.Now(), c.Ledger)
	for _, b := range gaveUp {
		c.Log.Warn("a workload will not settle; its pods are left alone for now", "workload", b.Workload.String(), "until", b.Until, "failures", b.Failures, "last", b.Reason.Message)
		if c.Events != nil {
			c.Events.GivenUp(b)
		}
	}
	if err := c.save(ctx); err != nil {
		return &plan.Reason{Code: plan.StateUnavailable, Message: "what became of evictions could not be noted down: " + err.Error()}
	}
	return nil
}

// close forgets a pass that has been reported. It is tried a few times, since it
// may be the last that this process does, in the time of one save: what comes
// after SIGTERM must not grow.
func (c *Controller) close(ctx context.Context, runID string) error {
	c.state = history.Close(c.state, runID)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	for try := 1; ; try++ {
		err := c.Memory.Save(call, c.state)
		if err == nil || try == closeTries || !c.sleepUntil(call, c.Clock.Now().Add(closeStep)) {
			return err
		}
	}
}

// done closes this pass, if it reserved anything. What it cannot write it keeps
// for the next pass of this process.
func (c *Controller) done(ctx context.Context, log *slog.Logger, report *plan.RunReport) {
	if c.Mode != plan.Live {
		return
	}
	if err := c.close(ctx, report.RunID); err != nil {
		log.Warn("that the pass is over could not be noted down; the next one will", "error", err)
		c.lostTrip = c.state.Breaker
		if c.opened == report.RunID {
			c.unsaved[report.RunID], c.notSaved = report.Outcomes, err
		}
		return
	}
	c.lostTrip, c.notSaved = nil, nil
	clear(c.unsaved)
}

// Unclosed is an error where passes that were reported stay open in the memory.
// Passes to come close them; a process that ends must not end as if all were well.
func (c *Controller) Unclosed() error {
	if len(c.unsaved) == 0 || c.notSaved == nil {
		return nil
	}
	return fmt.Errorf("run %s is over and reported, but that could not be noted down in %d tries: %w; see that the API server can write, and that this account may get, create and update the ConfigMaps evenkeel-memory-*. "+
		"Its evictions count as made until then. The next process that evicts looks into those that it finds open, and reports the run once more: by the same runID, marked as a recovery",
		strings.Join(slices.Sorted(maps.Keys(c.unsaved)), ", "), closeTries, c.notSaved)
}

func (c *Controller) save(ctx context.Context) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	return c.Memory.Save(call, c.state)
}
