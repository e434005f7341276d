// Package schedule computes when strategies run: on a cron schedule, and some time after a node became Ready.
//
// The package decides which strategies are due at a time. It never decides what a pass does, reads no clock, and never
// waits: the caller passes the time.
package schedule

import (
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Rule says when a strategy runs.
type Rule struct {
	Name string
	// Firings is the cron schedule. The zero Schedule never fires.
	Firings cron.Schedule
	// OnNodeReady is how long after a node became Ready the strategy runs, and the least time between two such runs.
	// Zero means that it does not.
	OnNodeReady time.Duration
}

// next returns the first firing after t, or zero if there is none.
func (r Rule) next(t time.Time) time.Time {
	if r.Firings.IsZero() {
		return time.Time{}
	}
	return r.Firings.Next(t)
}
