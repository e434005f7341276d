package cron

import (
	"math/bits"
	"time"

	"github.com/robfig/cron/v3"
)

// clock says when a cron expression's times come, on a wall clock that is moved
// twice a year.
type clock struct {
	cron *cron.SpecSchedule
	loc  *time.Location
	// twice: a time that the clock shows twice comes twice, not only at first.
	twice bool
	// jumps: a time that the clock leaves out comes at the jump, not at all.
	jumps bool
}

// years is how far ahead a time is looked for.
const years = 5

// span is a time between two moves of the clock, which shows UTC plus offset.
type span struct {
	from, to time.Time // to is not part of it; zero where it has no end
	offset   time.Duration
	before   time.Duration // offset in the span before
}

func (c clock) span(t time.Time) span {
	t = t.In(c.loc)
	from, to := t.ZoneBounds()
	s := span{from, to, offset(t), offset(t)}
	if !from.IsZero() {
		s.before = offset(from.Add(-time.Nanosecond))
	}
	return s
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// shown is what the clock shows at t, as a time in UTC; real is the other way.
func (s span) shown(t time.Time) time.Time { return t.UTC().Add(s.offset) }
func (s span) real(wall time.Time) time.Time {
	return wall.Add(-s.offset)
}

// first is what the clock shows when the span begins to count: at its start, or
// where it shows a time again that it showed before.
func (s span) first(twice bool) time.Time {
	if s.from.IsZero() {
		return time.Time{}
	}
	if s.before > s.offset && !twice {
		return s.from.UTC().Add(s.before)
	}
	return s.shown(s.from)
}

// leftOut says whether one of the times is left out by the jump before the span.
func (c clock) leftOut(s span) bool {
	if s.from.IsZero() || s.before >= s.offset {
		return false
	}
	end := s.shown(s.from)
	at, ok := c.before(end.Add(-time.Nanosecond), s.from.UTC().Add(s.before))
	return ok && at.Before(end)
}

// next is the first time after t; zero when there is none within five years.
func (c clock) next(t time.Time) time.Time {
	limit := t.AddDate(years, 0, 0)
	for at := t; at.Before(limit); {
		s := c.span(at)
		if c.jumps && s.from.After(t) && c.leftOut(s) {
			return s.from
		}
		wall := s.shown(at)
		if at.After(t) { // the start of a later span may be the time itself
			wall = wall.Add(-time.Nanosecond)
		}
		if first := s.first(c.twice); !first.IsZero() && wall.Before(first) {
			wall = first.Add(-time.Nanosecond)
		}
		end := s.shown(limit)
		if !s.to.IsZero() && s.to.Before(limit) {
			end = s.shown(s.to)
		}
		if found, ok := c.after(wall, end); ok {
			return s.real(found).In(t.Location())
		}
		if s.to.IsZero() {
			break
		}
		at = s.to
	}
	return time.Time{}
}

// last is the last time at or before t that is after since; zero when there is none.
func (c clock) last(t, since time.Time) time.Time {
	for at := t; at.After(since); {
		s := c.span(at)
		if found, ok := c.before(s.shown(at), s.first(c.twice)); ok {
			if got := s.real(found); got.After(since) {
				return got.In(t.Location())
			}
			return time.Time{}
		}
		if s.from.IsZero() || !s.from.After(since) {
			return time.Time{}
		}
		if c.jumps && c.leftOut(s) {
			return s.from.In(t.Location())
		}
		at = s.from.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// after finds the first wall time after wall and before end.
func (c clock) after(wall, end time.Time) (time.Time, bool) {
	at := wall.Truncate(time.Minute).Add(time.Minute)
	for at.Before(end) {
		y, m, d := at.Date()
		if c.cron.Month&(1<<uint(m)) == 0 {
			at = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if c.day(at) {
			if h, min, ok := c.later(at.Hour(), at.Minute()); ok {
				found := time.Date(y, m, d, h, min, 0, 0, time.UTC)
				return found, found.Before(end)
			}
		}
		at = time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}, false
}

// reach is how far back a start can matter: the longest window, and a day.
const reach = maxLength + 24*time.Hour

// before finds the last wall time at or before wall that is not before from, and
// not further back than any window is long.
func (c clock) before(wall, from time.Time) (time.Time, bool) {
	if far := wall.Add(-reach); from.Before(far) {
		from = far
	}
	for at := wall.Truncate(time.Minute); !at.Before(from); {
		y, m, d := at.Date()
		if c.day(at) {
			if h, min, ok := c.earlier(at.Hour(), at.Minute()); ok {
				found := time.Date(y, m, d, h, min, 0, 0, time.UTC)
				return found, !found.Before(from)
			}
		}
		at = time.Date(y, m, d, 0, -1, 0, 0, time.UTC)
	}
	return time.Time{}, false
}

// star marks a field that was given as *; see cron.SpecSchedule.
const star = 1 << 63

// day says whether the expression names the day: where both the day of the
// month and the day of the week are given, either is enough.
func (c clock) day(t time.Time) bool {
	if c.cron.Month&(1<<uint(t.Month())) == 0 {
		return false
	}
	dom, dow := c.cron.Dom&(1<<uint(t.Day())) != 0, c.cron.Dow&(1<<uint(t.Weekday())) != 0
	if c.cron.Dom&star != 0 || c.cron.Dow&star != 0 {
		return dom && dow
	}
	return dom || dow
}

// later is the first hour and minute of a day from h:m on.
func (c clock) later(h, m int) (hour, minute int, ok bool) {
	if c.cron.Hour&(1<<uint(h)) != 0 {
		if rest := c.cron.Minute &^ star >> uint(m) << uint(m); rest != 0 {
			return h, bits.TrailingZeros64(rest), true
		}
	}
	rest := c.cron.Hour &^ star >> uint(h+1) << uint(h+1)
	return bits.TrailingZeros64(rest), bits.TrailingZeros64(c.cron.Minute &^ star), rest != 0 && c.cron.Minute&^star != 0
}

// earlier is the last hour and minute of a day up to h:m.
func (c clock) earlier(h, m int) (hour, minute int, ok bool) {
	if c.cron.Hour&(1<<uint(h)) != 0 {
		if rest := c.cron.Minute & (1<<uint(m+1) - 1); rest != 0 {
			return h, bits.Len64(rest) - 1, true
		}
	}
	rest := c.cron.Hour & (1<<uint(h) - 1)
	return bits.Len64(rest) - 1, bits.Len64(c.cron.Minute&^star) - 1, rest != 0 && c.cron.Minute&^star != 0
}
