package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
)

// clockCheckInterval is the longest wait of Run. A timer does not notice that the clock was set; the next wait does.
const clockCheckInterval = time.Minute

// Run runs a pass whenever a strategy is due, until ctx ends. Strategies that are due at the same
// time share a pass. If a strategy becomes due while a pass runs, its pass is skipped and counted: passes never overlap
// and never queue.
//
// Between passes Run executes approved plans and applies new configurations. Run returns when a new
// configuration switches between dry run and live, because the two modes use different Leases.
func (c *Controller) Run(ctx context.Context) {
	defer c.progress.expectNothing()
	if c.Mode == plan.Live {
		c.published.announced = nil // another leader may have announced more since
	}
	c.timetable = schedule.New(schedule.RulesOf(c.Strategies), c.Clock.Now())
	defer func() { c.timetable = nil }()
	recordStateAtStart(ctx, c)
	c.OtherDeschedulers.Begin(ctx, c.Observer)
	mode, poll := c.Mode, c.Clock.Now().Add(approvalPollInterval)
	for ctx.Err() == nil {
		c.recallRuns(ctx)
		c.Recorder.RecordNextPasses(c.timetable.NextByStrategy())
		if apply := c.waitForWork(ctx, poll); apply != nil {
			if apply(c); c.Mode != mode {
				return
			}
			c.timetable = c.timetable.Replace(schedule.RulesOf(c.Strategies), c.Clock.Now())
			continue
		}
		if ctx.Err() != nil {
			return
		}
		now := c.Clock.Now()
		if due := c.dueStrategies(now); len(due) > 0 {
			_, _ = c.runPass(ctx, due) // it logs its error
		}
		if len(c.Reloads) > 0 { // it arrived during the pass
			continue
		}
		if now = c.Clock.Now(); !now.Before(poll) || poll.Sub(now) > approvalPollInterval {
			c.approved.executeNext(ctx, c)
			c.triggered.executeNext(ctx, c, maxRequestAge, c.runPass)
			poll = c.Clock.Now().Add(approvalPollInterval)
		}
	}
}

// dueStrategies returns the strategies that are due now.
func (c *Controller) dueStrategies(now time.Time) []string {
	c.timetable.SetTime(now)
	if c.NodeEvents != nil {
		c.timetable.NodeReady(c.NodeEvents.LastReady())
	}
	return c.timetable.Due(now)
}

// runPass runs a pass of the strategies, and records it in the timetable.
func (c *Controller) runPass(ctx context.Context, due []string) (plan.RunReport, error) {
	c.timetable.Started(due, c.Clock.Now())
	c.Recorder.RecordNextPasses(c.timetable.NextByStrategy())
	r, err := c.RunOnce(ctx, due)
	if err != nil {
		c.Log.Error("the pass failed; no pod was evicted", "strategies", due, "error", err)
	}
	if skipped := c.timetable.Ended(c.Clock.Now()); len(skipped) > 0 {
		c.Log.Warn("strategies were due while a pass was running; they are skipped", "strategies", skipped)
		c.Recorder.RecordSkipped(skipped)
	}
	return r, err
}

// recallRuns reads the times of earlier passes once, if a strategy needs them. A dry run stores nothing, so it recalls
// nothing. If reading fails, the next call tries again.
func (c *Controller) recallRuns(ctx context.Context) {
	if c.timetable.Recalled() || c.Mode != plan.Live || !c.timetable.Remembers() {
		return
	}
	st, err := c.Store.Load(ctx)
	if err != nil {
		c.Log.Warn("the times of earlier passes could not be read; a strategy with onNodeReady may run earlier", "error", err)
		return
	}
	c.timetable.Recall(st.StrategyRuns, c.Clock.Now())
}

// waitForWork waits until a strategy is due, for the next poll for requests, for an event about a node, for a new
// configuration, or for the end of ctx. waitForWork returns the function that applies the new configuration, or nil. A
// new configuration takes precedence over a pass that is due.
func (c *Controller) waitForWork(ctx context.Context, poll time.Time) func(*Controller) {
	if c.Waiting == nil && (c.Runs == nil || c.Mode != plan.Live) {
		poll = time.Time{}
	}
	wait, limited := nextWait(c.timetable.Next(), poll, c.Clock.Now())
	var due <-chan time.Time
	if limited {
		c.progress.expect("waiting for the next pass", c.Clock.Now().Add(max(0, wait)+loopSlack))
		if wait <= 0 {
			return receiveNow(c.Reloads)
		}
		timer := c.Clock.NewTimer(wait)
		defer timer.Stop()
		due = timer.C()
	} else {
		c.progress.expectNothing()
	}
	var events <-chan struct{}
	if c.NodeEvents != nil && c.timetable.Remembers() {
		events = c.NodeEvents.Changed()
	}
	select {
	case <-ctx.Done():
	case <-events:
	case apply := <-c.Reloads:
		return apply
	case <-due:
		return receiveNow(c.Reloads)
	}
	return nil
}

// nextWait returns how long to wait until a strategy is due or until the next poll for requests, at most
// clockCheckInterval. A zero time means never. nextWait returns false if both times are zero.
func nextWait(due, poll, now time.Time) (wait time.Duration, limited bool) {
	wait = clockCheckInterval
	for _, at := range []time.Time{due, poll} {
		if !at.IsZero() {
			wait, limited = min(wait, at.Sub(now)), true
		}
	}
	return wait, limited
}

// ApplyReload applies a new configuration that has arrived, if there is one. A process that does not lead calls it,
// because the new configuration may be for another Lease.
func (c *Controller) ApplyReload() {
	if apply := receiveNow(c.Reloads); apply != nil {
		apply(c)
	}
}

// receiveNow returns the next function, or nil if there is none yet.
func receiveNow(reloads <-chan func(*Controller)) func(*Controller) {
	select {
	case apply := <-reloads:
		return apply
	default:
		return nil
	}
}
