package cron

import (
	"fmt"
	"time"
)

// Windows restrict the times of evictions. All deny windows must be closed. If there are allow
// windows, at least one of them must be open.
type Windows struct{ Allow, Deny []Window }

const (
	closingHorizon  = 24 * time.Hour       // limits the search of Until
	openingHorizon  = 366 * 24 * time.Hour // limits the search of nextOpening
	maxHandovers    = 60                   // limits the consecutive allow windows in allowedUntil
	maxOpeningSteps = 2000                 // limits the steps of nextOpening
	maxFirings      = 10_000               // limits EverFiresWhileOpen; more than one per hour for a year
)

// Open reports whether the windows permit evictions at t. If they do not, why explains the reason.
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

// DescribeNextOpening describes when all windows permit evictions again, up to a year ahead. The
// windows must not permit evictions at t.
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

// EverOpen reports whether all windows permit evictions together at some time within a year from t. It
// also returns true if the search reaches its limit.
func EverOpen(t time.Time, all ...Windows) bool {
	at, found := nextOpening(t, all)
	return found || at.Before(t.Add(openingHorizon))
}

// EverFiresWhileOpen reports whether the schedule fires within a year from t while all windows permit
// evictions. It also returns true if the search reaches its limit.
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

// nextOpening returns the first time from t on at which all windows permit evictions. If found is
// false, no such time is before at, which is at most a year ahead.
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

// earliestOpen returns t if the windows permit evictions at t. Otherwise it returns a later time before
// which the windows permit no evictions.
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

// Until returns the time until which the windows that are open at t permit evictions, or zero if that
// is a day or more. With more than maxHandovers consecutive allow windows, Until may return an earlier
// time, at least maxHandovers minutes after t.
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

// allowedUntil returns the time at which the last of consecutive allow windows closes, at most end.
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
