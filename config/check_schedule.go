package config

import (
	"time"

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

// checkStrategySchedule checks and sets when the strategy runs. loc is the default time zone. It returns false if the
// schedule is missing or invalid.
func checkStrategySchedule(d *strict.Decoder, path string, s Strategy, loc *time.Location, built *ScheduledStrategy) bool {
	if s.TimeZone != "" {
		loc = checkTimeZone(d, path+".timeZone", s.TimeZone)
	}
	built.On = checkNodeEvents(d, path+".on", s.On)
	var err error
	switch {
	case s.Schedule != "":
		if built.Schedule, err = cron.Parse(s.Schedule, loc); err != nil {
			d.Errorf(path+".schedule", "%v", err)
		}
	case s.On == nil:
		d.Errorf(path+".schedule", "is missing (want a cron expression, such as \"0 * * * *\")")
	}
	checkMissed(d, path, s, built)
	checkJitter(d, path, s, built)
	return err == nil && (s.Schedule != "" || s.On != nil)
}

func checkMissed(d *strict.Decoder, path string, s Strategy, built *ScheduledStrategy) {
	words := []string{MissedSkip, MissedOnce}
	if s.Missed != "" && s.Missed != MissedSkip && s.Missed != MissedOnce {
		d.Errorf(path+".missed", "%q is unknown (want skip or once)%s", s.Missed, suggest.DidYouMean(s.Missed, words))
	}
	built.RunMissed = s.Missed == MissedOnce
}

// checkJitter rejects a jitter that could make the runs of two firings change places.
func checkJitter(d *strict.Decoder, path string, s Strategy, built *ScheduledStrategy) {
	built.Jitter = time.Duration(s.Jitter)
	switch {
	case built.Jitter == 0:
	case s.Schedule == "":
		d.Errorf(path+".jitter", "needs a schedule: it delays the firings of a cron expression")
	case built.Schedule.IsZero(): // the schedule is invalid
	case !built.Schedule.Fixed():
		d.Errorf(path+".jitter", "has no effect with %s, whose firings count from the start of the process (want a cron expression, such as \"*/30 * * * *\")",
			built.Schedule)
	default:
		if shortest := built.Schedule.ShortestInterval(); built.Jitter >= shortest {
			d.Errorf(path+".jitter", "%s is not below the shortest time between two firings of %s, %s", s.Jitter, built.Schedule,
				Duration(shortest))
		}
	}
}

func checkNodeEvents(d *strict.Decoder, path string, on *NodeEvents) RunAfter {
	if on == nil {
		return RunAfter{}
	}
	out := RunAfter{NodeAdded: time.Duration(on.NodeAdded), NodeReady: time.Duration(on.NodeReady), Every: time.Duration(on.Every)}
	for _, x := range []struct {
		key   string
		delay time.Duration
	}{{"nodeAdded", out.NodeAdded}, {"nodeReady", out.NodeReady}} {
		if d.Has(path+"."+x.key) && (x.delay < minEventDelay || x.delay > maxEventDelay) {
			d.Errorf(path+"."+x.key, "%s is out of range (want %s to %s: how long after the event the strategy runs)", Duration(x.delay),
				Duration(minEventDelay), Duration(maxEventDelay))
		}
	}
	if !out.Any() && !d.HasErrors(path) {
		d.Errorf(path, "names no event (want nodeAdded, nodeReady or both, such as {nodeAdded: 5m, nodeReady: 5m})")
	}
	switch {
	case !d.Has(path + ".every"):
		out.Every = defaultInterval
	case out.Every < minEventEvery || out.Every > maxEventDelay:
		d.Errorf(path+".every", "%s is out of range (want %s to %s: the least time between two runs that events start)", on.Every,
			Duration(minEventEvery), Duration(maxEventDelay))
	}
	return out
}
