package cron

import (
	"fmt"
	"time"
)

// Windows decide when evictions are permitted. A deny window that is open forbids them. If
// there are allow windows, at least one must be open.
type Windows struct{ Allow, Deny []Window }

const (
	// closingHorizon is how far ahead Until searches for a closing time.
	closingHorizon = 24 * time.Hour
	// openingHorizon is how far ahead nextOpening searches.
	openingHorizon = 366 * 24 * time.Hour
	// maxHandovers is how many consecutive allow windows allowedUntil follows. maxOpeningSteps
	// is how many times nextOpening tries.
	maxHandovers    = 60
	maxOpeningSteps = 2000
	// maxFirings is how many firings EverFiresWhileOpen tries. A schedule that fires every
	// hour has fewer firings in a year.
	maxFirings = 10_000
)

// Open reports whether the windows permit evictions at t. If they do not, why is the reason.
func (w Windows) Open(t time.Time) (why string, open bool) {
	for _, d := range w.Deny {
		if !d.closesAt(t, d.denyClock()).IsZero() {
			return fmt.Sprintf("the deny window %q is open", d), false
		}
	}
	if w.allowOpen(t) {
		return "", true
	}
	return "no allow window is open", false
}

func (w Windows) allowOpen(t time.Time) bool {
	for _, a := range w.Allow {
		if a.Open(t) {
			return true
		}
	}
	return len(w.Allow) == 0
}

// DescribeNextOpening describes when all windows permit evictions again, up to a year ahead.
// They must not permit them at t.
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

// EverOpen reports whether all windows are open together at some time within a year from t. It
// also returns true if the search gives up.
func EverOpen(t time.Time, all ...Windows) bool {
	at, found := nextOpening(t, all)
	return found || at.Before(t.Add(openingHorizon))
}

// EverFiresWhileOpen reports whether the schedule fires within a year from t while all windows
// are open. It also returns true if the search gives up.
func EverFiresWhileOpen(t time.Time, s Schedule, all ...Windows) bool {
	end := t.Add(openingHorizon)
	for range maxFirings {
		due := s.Next(t.Add(-time.Nanosecond)) // a firing at t counts
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

// nextOpening returns the first time from t on at which all windows are open. If it finds
// none, at is a time before which there is none: a year ahead, or less after maxOpeningSteps.
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

// earliestOpen returns t if the windows are open at t. Otherwise it returns a later time
// before which they are closed.
func (w Windows) earliestOpen(t time.Time) time.Time {
	for _, d := range w.Deny {
		if u := d.closesAt(t, d.denyClock()); u.After(t) {
			t = u
		}
	}
	if w.allowOpen(t) {
		return t
	}
	first := t.Add(2 * openingHorizon)
	for _, a := range w.Allow {
		if next := a.start.clock().nextFiring(t); !next.IsZero() && next.Before(first) {
			first = next
		}
	}
	return first
}

// Until returns when windows that are open at t close, or zero if they stay open for a day. If
// many allow windows follow each other, the result can be too early, but it is at least
// maxHandovers minutes ahead of t.
func (w Windows) Until(t time.Time) time.Time {
	end := t.Add(closingHorizon)
	for _, d := range w.Deny {
		if next := d.denyClock().nextFiring(t); !next.IsZero() && next.Before(end) {
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

// allowedUntil returns when consecutive allow windows close, at most end.
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
