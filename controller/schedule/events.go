package schedule

import "time"

// Happened tells the timetable the time of the latest event of a kind. A strategy runs as long
// after the event as its rule says. Further events postpone the run, so that a burst causes one
// run, but at most until twice that time after the first event. Events that a run of the strategy
// has covered, and events from before the timetable, cause no run. If the rule has RunMissed,
// events after the last run do, although no process led at the time.
func (t *Timetable) Happened(kind Event, at time.Time) {
	for _, e := range t.entries {
		delay, wants := e.rule.After[kind]
		if !wants || at.IsZero() {
			continue
		}
		run := at.Add(delay)
		from := e.started
		if !e.rule.RunMissed || from.IsZero() {
			from = later(from, e.since)
		}
		if !run.After(from) {
			continue
		}
		e.wanted = later(e.wanted, run)
		if e.atMost.IsZero() {
			e.atMost = run.Add(delay)
		}
	}
}

// eventDue returns the time of the run that events want, or zero.
func (e *entry) eventDue() time.Time {
	if e.wanted.IsZero() {
		return time.Time{}
	}
	due := earlier(e.wanted, e.atMost)
	if e.byEvent.IsZero() {
		return due
	}
	return later(due, e.byEvent.Add(e.rule.Every))
}

// longest returns the longest time for which an event may wait for its run.
func longest(r Rule) time.Duration {
	longest := r.Every
	for _, d := range r.After {
		longest = max(longest, 2*d)
	}
	return longest
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
