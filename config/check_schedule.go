package config

import (
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Bounds of the delay after an event, and of the time between two runs that events start.
const (
	minEventDelay   = time.Second
	maxEventDelay   = 24 * time.Hour
	minEventEvery   = time.Minute
	defaultInterval = 30 * time.Minute
)

// checkStrategySchedule checks and sets when the strategy runs. loc is the time zone. It returns false if the
// schedule is missing or invalid.
func checkStrategySchedule(d *strict.Decoder, path string, s Strategy, loc *time.Location, built *schedule.Strategy) bool {
	checkNodeEvents(d, path+".on", s.On, built)
	var err error
	switch {
	case s.Schedule != "":
		if built.Firings, err = cron.Parse(s.Schedule, loc); err != nil {
			d.Errorf(path+".schedule", "%v", err)
		}
	case s.On == nil:
		d.Errorf(path+".schedule", "is missing (want a cron expression, such as \"0 * * * *\")")
	}
	checkMissed(d, path, s, built)
	checkJitter(d, path, s, built)
	return err == nil && (s.Schedule != "" || s.On != nil)
}

func checkMissed(d *strict.Decoder, path string, s Strategy, built *schedule.Strategy) {
	words := []string{MissedSkip, MissedOnce}
	if s.Missed != "" && s.Missed != MissedSkip && s.Missed != MissedOnce {
		d.Errorf(path+".missed", "%q is unknown (want skip or once)%s", s.Missed, suggest.DidYouMean(s.Missed, words))
	}
	built.RunMissed = s.Missed == MissedOnce
}

// checkJitter rejects a jitter that could make the runs of two firings change places.
func checkJitter(d *strict.Decoder, path string, s Strategy, built *schedule.Strategy) {
	built.Jitter = time.Duration(s.Jitter)
	switch {
	case built.Jitter == 0:
	case s.Schedule == "":
		d.Errorf(path+".jitter", "needs a schedule: it delays the firings of a cron expression")
	case built.Firings.IsZero(): // the schedule is invalid
	case !built.Firings.Fixed():
		d.Errorf(path+".jitter", "has no effect with %s, whose firings count from the start of the process (want a cron expression, such as \"*/30 * * * *\")",
			built.Firings)
	default:
		if shortest := built.Firings.ShortestInterval(); built.Jitter >= shortest {
			d.Errorf(path+".jitter", "%s is not below the shortest time between two firings of %s, %s", s.Jitter, built.Firings,
				Duration(shortest))
		}
	}
}

func checkNodeEvents(d *strict.Decoder, path string, on *NodeEvents, built *schedule.Strategy) {
	if on == nil {
		return
	}
	built.After, built.Every = map[schedule.Event]time.Duration{}, time.Duration(on.Every)
	for _, x := range []struct {
		key   string
		event schedule.Event
		delay Duration
	}{{"nodeAdded", schedule.NodeAdded, on.NodeAdded}, {"nodeReady", schedule.NodeReady, on.NodeReady}} {
		if d.Has(path+"."+x.key) && (time.Duration(x.delay) < minEventDelay || time.Duration(x.delay) > maxEventDelay) {
			d.Errorf(path+"."+x.key, "%s is out of range (want %s to %s: how long after the event the strategy runs)", x.delay,
				Duration(minEventDelay), Duration(maxEventDelay))
		}
		if x.delay > 0 {
			built.After[x.event] = time.Duration(x.delay)
		}
	}
	if len(built.After) == 0 && !d.HasErrors(path) {
		d.Errorf(path, "names no event (want nodeAdded, nodeReady or both, such as {nodeAdded: 5m, nodeReady: 5m})")
	}
	switch {
	case !d.Has(path + ".every"):
		built.Every = defaultInterval
	case built.Every < minEventEvery || built.Every > maxEventDelay:
		d.Errorf(path+".every", "%s is out of range (want %s to %s: the least time between two runs that events start)", on.Every,
			Duration(minEventEvery), Duration(maxEventDelay))
	}
}
