package controller

import (
	"context"
	"strconv"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Run fires each strategy on its schedule until ctx ends. Strategies that are
// due in the same minute share a pass. A time that comes while a pass runs is
// skipped and counted: passes never overlap and never queue.
func (c *Controller) Run(ctx context.Context) {
	next := c.nextTimes(c.Clock.Now())
	for {
		at := earliest(next)
		if at.IsZero() {
			<-ctx.Done()
			return
		}
		if !c.sleepUntil(ctx, at) {
			return
		}
		due := dueAt(c.names(), next, at)
		if _, err := c.RunOnce(ctx, due); err != nil {
			c.Log.Error("pass failed; nothing was evicted", "strategies", due, "error", err)
		}
		now := c.Clock.Now()
		if late := c.missed(next, at, now); len(late) > 0 {
			c.Log.Warn("skipped: the last pass was still running", "strategies", late)
			c.Recorder.Skipped(late)
		}
		next = c.nextTimes(now)
	}
}

func (c *Controller) names() []string {
	out := make([]string, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Name
	}
	return out
}

func (c *Controller) nextTimes(after time.Time) []time.Time {
	out := make([]time.Time, len(c.Strategies))
	for i, s := range c.Strategies {
		out[i] = s.Schedule.Next(after)
	}
	return out
}

// missed names the strategies that would have fired while the pass of `at` ran.
func (c *Controller) missed(next []time.Time, at, now time.Time) []string {
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

func dueAt(names []string, next []time.Time, at time.Time) []string {
	var due []string
	for i, t := range next {
		if t.Equal(at) {
			due = append(due, names[i])
		}
	}
	return due
}
