package cron

import (
	"fmt"
	"time"
)

// Windows say when something may happen: always, unless there are allow windows
// and none of them is open, or a deny window is.
type Windows struct{ Allow, Deny []Window }

const (
	// closingHorizon bounds how far ahead a closing time is looked for.
	closingHorizon = 24 * time.Hour
	// openingHorizon bounds how far ahead an opening is looked for.
	openingHorizon = 366 * 24 * time.Hour
	// maxHandovers bounds how often allow windows are followed as they take over
	// from each other, and maxTries how many times are tried for an opening.
	maxHandovers    = 60
	maxOpeningSteps = 2000
	// maxFirings bounds how many times are tried for one that is within windows: those
	// of a window for every hour of a year.
	maxFirings = 10_000
)

// Open reports whether things may happen at t. Why says in words why not.
func (w Windows) Open(t time.Time) (why string, open bool) {
	for _, d := range w.Deny {
		if !d.closesAt(t, d.denyClock()).IsZero() {
			return fmt.Sprintf("the deny window %q is open", d), false
		}
	}
	if w.allowed(t) {
		return "", true
	}
	return "no allow window is open", false
}

func (w Windows) allowed(t time.Time) bool {
	for _, a := range w.Allow {
		if a.Open(t) {
			return true
		}
	}
	return len(w.Allow) == 0
}

// DescribeNextOpening says in words when all the windows let things happen again that do
// not at t, as far as a year ahead.
func DescribeNextOpening(t time.Time, all ...Windows) string {
	at, found := nextOpening(t, all)
	switch {
	case found:
		return "evictions may happen from " + at.UTC().Format(time.RFC3339)
	case at.Before(t.Add(openingHorizon)):
		return "evictions may not happen before " + at.UTC().Format(time.RFC3339)
	}
	n := 0
	for _, w := range all {
		n += len(w.Allow) + len(w.Deny)
	}
	if n == 1 {
		return "not within a year"
	}
	return "never within a year: these windows do not overlap"
}

// EverOpen says whether there is a time within a year from t at which all the
// windows let things happen. It says so as well where it did not find out.
func EverOpen(t time.Time, all ...Windows) bool {
	at, found := nextOpening(t, all)
	return found || at.Before(t.Add(openingHorizon))
}

// EverFiresWhileOpen says whether the schedule is due within a year from t at a time at which all
// the windows let things happen. It says so as well where it did not find out.
func EverFiresWhileOpen(t time.Time, s Schedule, all ...Windows) bool {
	end := t.Add(openingHorizon)
	for range maxFirings {
		due := s.Next(t.Add(-time.Nanosecond)) // t itself counts
		if due.IsZero() || !due.Before(end) {
			return false
		}
		switch at, found := nextOpening(due, all); {
		case found && at.Equal(due):
			return true
		case !at.Before(end):
			return false
		default:
			t = at
		}
	}
	return true
}

// nextOpening is the first time from t on at which all are open. Where it gives up,
// it is the time up to which there is none: a year ahead, or less after maxTries.
func nextOpening(t time.Time, all []Windows) (at time.Time, found bool) {
	end := t.Add(openingHorizon)
	at = t
	for range maxOpeningSteps {
		next := at
		for _, w := range all {
			next = w.earliestOpen(next)
		}
		if next.Equal(at) {
			return at, true
		}
		if at = next; !at.Before(end) {
			return end, false
		}
	}
	return at, false
}

// earliestOpen is t where the windows are open at t, and otherwise a later time
// before which they are not.
func (w Windows) earliestOpen(t time.Time) time.Time {
	for _, d := range w.Deny {
		if u := d.closesAt(t, d.denyClock()); u.After(t) {
			t = u
		}
	}
	if w.allowed(t) {
		return t
	}
	first := t.Add(2 * openingHorizon)
	for _, a := range w.Allow {
		if next := a.start.clock().next(t); !next.IsZero() && next.Before(first) {
			first = next
		}
	}
	return first
}

// Until is when things may no longer happen that may happen at t; zero when
// that is more than a day ahead. Where allow windows take over from each other
// every minute it may be earlier than that, but not within the hour.
func (w Windows) Until(t time.Time) time.Time {
	end := t.Add(closingHorizon)
	for _, d := range w.Deny {
		if next := d.denyClock().next(t); !next.IsZero() && next.Before(end) {
			end = next
		}
	}
	if len(w.Allow) > 0 {
		end = w.allowedUntil(t, end)
	}
	if !end.Before(t.Add(closingHorizon)) {
		return time.Time{}
	}
	return end
}

// allowedUntil follows allow windows that take over from each other, up to end.
func (w Windows) allowedUntil(t, end time.Time) time.Time {
	at := t
	for range maxHandovers {
		next := at
		for _, a := range w.Allow {
			if u := a.Until(at); u.After(next) {
				next = u
			}
		}
		if !next.After(at) {
			return at
		}
		if at = next; !at.Before(end) {
			return end
		}
	}
	return at
}
