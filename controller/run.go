package controller

import (
	"context"
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Run fires each strategy on its schedule until ctx ends. Strategies that are
// due in the same minute share a pass. A time that comes while a pass runs is
// skipped and counted: passes never overlap and never queue. A new configuration
// is taken over while it waits; its schedules count from then on. It returns when
// that turns dry runs into passes that evict, or the reverse: those are led by
// different Leases.
func (c *Controller) Run(ctx context.Context) {
	next, mode := c.nextFirings(c.Clock.Now()), c.Mode
	for ctx.Err() == nil {
		at := earliest(next)
		if take := c.waitForWork(ctx, at); take != nil {
			if take(c); c.Mode != mode {
				return
			}
			next = c.nextFirings(firingsAfter(at, c.Clock.Now()))
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if at.IsZero() || c.Clock.Now().Before(at) {
			c.applyApprovedPlan(ctx)
			continue
		}
		c.runPass(ctx, strategiesDueAt(c.strategyNames(), next, at))
		now := c.Clock.Now()
		if late := c.missedStrategies(next, at, now); len(late) > 0 {
			c.Log.Warn("skipped: the last pass was still running", "strategies", late)
			c.Recorder.RecordSkipped(late)
		}
		next = c.advanceSchedules(next, now)
	}
}

func (c *Controller) runPass(ctx context.Context, due []string) {
	if _, err := c.RunOnce(ctx, due); err != nil {
		c.Log.Error("pass failed; nothing was evicted", "strategies", due, "error", err)
	}
}

// waitForWork returns nil at the given time (never, when it is zero), when approved
// plans are to be looked for, and when ctx ends. A new configuration comes first, also when the time has come.
func (c *Controller) waitForWork(ctx context.Context, at time.Time) func(*Controller) {
	var due <-chan time.Time
	if !at.IsZero() {
		timer := c.Clock.NewTimer(at.Sub(c.Clock.Now()))
		defer timer.Stop()
		due = timer.C()
	}
	var look <-chan time.Time
	if c.Approvals != nil {
		timer := c.Clock.NewTimer(approvalPollInterval)
		defer timer.Stop()
		look = timer.C()
	}
	select {
	case <-ctx.Done():
	case <-look:
	case take := <-c.Reloads:
		return take
	case <-due:
		select {
		case take := <-c.Reloads:
			return take
		default:
		}
	}
	return nil
}

// firingsAfter is the time after which strategies are due under a new configuration: now,
// but when `at` has just come, what is due then still is.
func firingsAfter(at, now time.Time) time.Time {
	if !at.IsZero() && !at.After(now) {
		return at.Add(-1)
	}
	return now
}

func (c *Controller) strategyNames() []string {
	out := make([]string, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Name
	}
	return out
}

func (c *Controller) nextFirings(after time.Time) []time.Time {
	out := make([]time.Time, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Schedule.Next(after)
	}
	return out
}

// advanceSchedules are the times that are still to come. A strategy that waits keeps its
// own: an @every counts from when it last fired, not from the passes of others,
// which would put it off for ever. A clock that was set back brings times forward.
func (c *Controller) advanceSchedules(next []time.Time, now time.Time) []time.Time {
	out := c.nextFirings(now)
	for i, t := range next {
		if t.After(now) && (out[i].IsZero() || t.Before(out[i])) {
			out[i] = t
		}
	}
	return out
}

// missedStrategies names the strategies that would have fired while the pass of `at` ran.
func (c *Controller) missedStrategies(next []time.Time, at, now time.Time) []string {
	var late []string
	for i, s := range c.Strategies {
		t := next[i]
		if t.Equal(at) {
			t = s.Schedule.Next(at)
		}
		if !t.IsZero() && !t.After(now) {
			late = append(late, s.Name)
		}
	}
	return late
}

func (c *Controller) sleepUntil(ctx context.Context, t time.Time) bool {
	timer := c.Clock.NewTimer(t.Sub(c.Clock.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return ctx.Err() == nil
	}
}

func earliest(times []time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func strategiesDueAt(names []string, next []time.Time, at time.Time) []string {
	var due []string
	for i, t := range next {
		if t.Equal(at) {
			due = append(due, names[i])
		}
	}
	return due
}
