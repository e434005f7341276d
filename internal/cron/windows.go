package cron

import (
	"fmt"
	"time"
)

// Windows say when something may happen: always, unless there are allow windows
// and none of them is open, or a deny window is.
type Windows struct{ Allow, Deny []Window }

const (
	// horizon bounds how far ahead a closing time is looked for.
	horizon = 24 * time.Hour
	// yearAhead bounds how far ahead an opening is looked for.
	yearAhead = 366 * 24 * time.Hour
	// maxTurns bounds how often allow windows are followed as they take over
	// from each other, and maxTries how many times are tried for an opening.
	maxTurns = 60
	maxTries = 2000
	// maxDue bounds how many times are tried for one that is within windows: those
	// of a window for every hour of a year.
	maxDue = 10_000
)

// Open reports whether things may happen at t. Why says in words why not.
func (w Windows) Open(t time.Time) (why string, open bool) {
	for _, d := range w.Deny {
		if !d.until(t, d.denying()).IsZero() {
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

// Opening says in words when all the windows let things happen again that do
// not at t, as far as a year ahead.
func Opening(t time.Time, all ...Windows) string {
	at, found := opening(t, all)
	switch {
	case found:
		return "evictions may happen from " + at.UTC().Format(time.RFC3339)
	case at.Before(t.Add(yearAhead)):
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

// Ever says whether there is a time within a year from t at which all the
// windows let things happen. It says so as well where it did not find out.
func Ever(t time.Time, all ...Windows) bool {
	at, found := opening(t, all)
	return found || at.Before(t.Add(yearAhead))
}

// Meets says whether the schedule is due within a year from t at a time at which all
// the windows let things happen. It says so as well where it did not find out.
func Meets(t time.Time, s Schedule, all ...Windows) bool {
	end := t.Add(yearAhead)
	for range maxDue {
		due := s.Next(t.Add(-time.Nanosecond)) // t itself counts
		if due.IsZero() || !due.Before(end) {
			return false
		}
		switch at, found := opening(due, all); {
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

// opening is the first time from t on at which all are open. Where it gives up,
// it is the time up to which there is none: a year ahead, or less after maxTries.
func opening(t time.Time, all []Windows) (at time.Time, found bool) {
	end := t.Add(yearAhead)
	at = t
	for range maxTries {
		next := at
		for _, w := range all {
			next = w.notBefore(next)
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

// notBefore is t where the windows are open at t, and otherwise a later time
// before which they are not.
func (w Windows) notBefore(t time.Time) time.Time {
	for _, d := range w.Deny {
		if u := d.until(t, d.denying()); u.After(t) {
			t = u
		}
	}
	if w.allowed(t) {
		return t
	}
	first := t.Add(2 * yearAhead)
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
	end := t.Add(horizon)
	for _, d := range w.Deny {
		if next := d.denying().next(t); !next.IsZero() && next.Before(end) {
			end = next
		}
	}
	if len(w.Allow) > 0 {
		end = w.allowedUntil(t, end)
	}
	if !end.Before(t.Add(horizon)) {
		return time.Time{}
	}
	return end
}

// allowedUntil follows allow windows that take over from each other, up to end.
func (w Windows) allowedUntil(t, end time.Time) time.Time {
	at := t
	for range maxTurns {
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
