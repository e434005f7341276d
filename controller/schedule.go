package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Run runs a pass whenever a strategy is due, until ctx ends. Strategies that are due at the same time share a pass. If
// a strategy becomes due while a pass runs, its pass is skipped and counted: passes never overlap and never queue.
//
// Between passes Run executes approved plans and applies new configurations. Run returns when a new
// configuration switches between dry run and live, because the two modes use different Leases.
func (c *Controller) Run(ctx context.Context) {
	defer c.expectNothing()
	if c.Mode == plan.Live {
		c.unsaved.announced = nil // another leader may have announced more since
	}
	next, mode := c.nextFirings(c.Clock.Now()), c.Mode
	for ctx.Err() == nil {
		at := earliestTime(next)
		if apply := c.waitForWork(ctx, at); apply != nil {
			if apply(c); c.Mode != mode {
				return
			}
			next = c.nextFirings(firingsStart(at, c.Clock.Now()))
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if at.IsZero() || c.Clock.Now().Before(at) {
			approvedPlans{c}.executeNext(ctx)
			continue
		}
		var due []string
		for i, s := range c.Strategies {
			if next[i].Equal(at) {
				due = append(due, s.Name)
			}
		}
		if _, err := c.RunOnce(ctx, due); err != nil {
			c.Log.Error("the pass failed; no pod was evicted", "strategies", due, "error", err)
		}
		now := c.Clock.Now()
		if skipped := c.missedStrategies(next, at, now); len(skipped) > 0 {
			c.Log.Warn("strategies were due while a pass was running; they are skipped", "strategies", skipped)
			c.Recorder.RecordSkipped(skipped)
		}
		next = c.advanceSchedules(next, now)
	}
}

// waitForWork waits for the given time (zero: never), for the next check for approved plans, for a
// new configuration, or for the end of ctx. waitForWork returns the function that applies the new
// configuration, or nil. A new configuration takes precedence over a pass that is due.
func (c *Controller) waitForWork(ctx context.Context, at time.Time) func(*Controller) {
	var due, poll <-chan time.Time
	var longest time.Duration // 0: no limit
	if !at.IsZero() {
		longest = max(0, at.Sub(c.Clock.Now())) + loopSlack
		timer := c.Clock.NewTimer(at.Sub(c.Clock.Now()))
		defer timer.Stop()
		due = timer.C()
	}
	if c.Approvals != nil {
		longest = approvalPollInterval + loopSlack
		timer := c.Clock.NewTimer(approvalPollInterval)
		defer timer.Stop()
		poll = timer.C()
	}
	if c.expectNothing(); longest > 0 {
		c.expect("waiting for the next pass", longest)
	}
	select {
	case <-ctx.Done():
	case <-poll:
	case apply := <-c.Reloads:
		return apply
	case <-due:
		select {
		case apply := <-c.Reloads:
			return apply
		default:
		}
	}
	return nil
}

// firingsStart returns the time after which strategies are due under a new configuration: normally now. If the time of
// the next pass has come, it returns a time just before that, so that the pass is not lost.
func firingsStart(at, now time.Time) time.Time {
	if !at.IsZero() && !at.After(now) {
		return at.Add(-1)
	}
	return now
}

// nextFirings returns the next time at which each strategy is due; zero means never.
func (c *Controller) nextFirings(after time.Time) []time.Time {
	out := make([]time.Time, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Schedule.Next(after)
	}
	return out
}

// advanceSchedules returns the next firings after now. A strategy that is not due yet keeps its
// time: otherwise the passes of other strategies would postpone an @every schedule forever. A
// strategy gets an earlier time only if the clock was set back.
func (c *Controller) advanceSchedules(next []time.Time, now time.Time) []time.Time {
	out := c.nextFirings(now)
	for i, t := range next {
		if t.After(now) && (out[i].IsZero() || t.Before(out[i])) {
			out[i] = t
		}
	}
	return out
}

// missedStrategies returns the strategies that became due while a pass was running. The pass was due at the time at.
func (c *Controller) missedStrategies(next []time.Time, at, now time.Time) []string {
	var missed []string
	for i, s := range c.Strategies {
		t := next[i]
		if t.Equal(at) {
			t = s.Schedule.Next(at)
		}
		if !t.IsZero() && !t.After(now) {
			missed = append(missed, s.Name)
		}
	}
	return missed
}

// earliestTime returns the earliest non-zero time, or zero if there is none.
func earliestTime(times []time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
