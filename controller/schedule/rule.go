// Package schedule computes when strategies run: on a cron schedule with jitter, some time after a node appears or
// becomes Ready, and once after firings that were missed.
//
// The package decides which strategies are due at a time. It never decides what a pass does, reads no clock, and never
// waits: the caller passes the time.
package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Rule says when a strategy runs.
type Rule struct {
	Name string
	// Firings is the cron schedule. The zero Schedule never fires.
	Firings cron.Schedule
	// Jitter delays the start of each firing by less than this time. It is shorter than the time between two firings.
	Jitter time.Duration
	// RunMissed makes one run follow after one or more missed firings.
	RunMissed bool
	// After has, by event, how long after the event the strategy runs.
	After map[Event]time.Duration
	// Every is the least time between two runs that events start.
	Every time.Duration
}

// Event is a change of a node.
type Event int

const (
	NodeAdded Event = iota // a node object appeared
	NodeReady              // a node turned Ready
)

// Remembers reports whether the rule needs the times of earlier runs after a restart.
func (r Rule) Remembers() bool { return r.RunMissed || len(r.After) > 0 }

// isPlain reports whether the rule has only a cron schedule. A plain rule skips the firings that
// come while a pass runs.
func (r Rule) isPlain() bool { return r.Jitter == 0 && !r.Remembers() }

// Start returns when the run of a firing starts: at the firing or later, and less than Jitter after it. The delay
// depends only on the name of the strategy and on the firing, so every replica computes the same one.
func (r Rule) Start(firing time.Time) time.Time {
	if r.Jitter <= 0 {
		return firing
	}
	sum := sha256.Sum256([]byte(r.Name + "\x00" + strconv.FormatInt(firing.Unix(), 10)))
	delay, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(r.Jitter))
	return firing.Add(time.Duration(delay))
}

// NextStart returns the first start after t, or zero if there is none within five years.
func (r Rule) NextStart(t time.Time) time.Time { return r.nextStart(t).start }

// firing is a firing of a rule and the start of its run.
type firing struct{ at, start time.Time }

// nextStart returns the firing whose start is the first one after t.
func (r Rule) nextStart(t time.Time) (first firing) {
	if r.Firings.IsZero() {
		return first
	}
	for at := r.Firings.Next(t.Add(-r.Jitter)); !at.IsZero() && (first.at.IsZero() || at.Before(first.start)); at = r.Firings.Next(at) {
		start := r.Start(at)
		if start.After(t) && (first.at.IsZero() || start.Before(first.start)) {
			first = firing{at, start}
		}
		if r.Jitter <= 0 {
			break
		}
	}
	return first
}
