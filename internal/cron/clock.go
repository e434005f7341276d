package cron

import (
	"math/bits"
	"time"

	"github.com/robfig/cron/v3"
)

// clock computes the times of a cron expression in a time zone, including its daylight saving
// transitions.
type clock struct {
	spec *cron.SpecSchedule
	loc  *time.Location
	// includeRepeated returns a time that occurs twice both times. Otherwise only its first
	// occurrence counts.
	includeRepeated bool
	// includeSkipped moves a skipped time to the transition. Otherwise the clock ignores it.
	includeSkipped bool
}

// horizonYears is how many years ahead the clock searches for a time.
const horizonYears = 5

// span is the time between two transitions. In a span, local time is UTC plus offset.
type span struct {
	from, to     time.Time // exclusive; zero if the span has no end
	offset       time.Duration
	offsetBefore time.Duration // offset of the previous span
}

func (c clock) span(t time.Time) span {
	t = t.In(c.loc)
	from, to := t.ZoneBounds()
	s := span{from, to, offset(t), offset(t)}
	if !from.IsZero() {
		s.offsetBefore = offset(from.Add(-time.Nanosecond))
	}
	return s
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// wallTime returns the local time at t, as a time in UTC. realTime is the inverse.
func (s span) wallTime(t time.Time) time.Time { return t.UTC().Add(s.offset) }
func (s span) realTime(wall time.Time) time.Time {
	return wall.Add(-s.offset)
}

// firstShown returns the first local time of the span that counts. If twice is false, it
// excludes times that also occurred in the previous span.
func (s span) firstShown(twice bool) time.Time {
	if s.from.IsZero() {
		return time.Time{}
	}
	if s.offsetBefore > s.offset && !twice {
		return s.from.UTC().Add(s.offsetBefore)
	}
	return s.wallTime(s.from)
}

// skipsTime reports whether the transition before the span skips a time of the expression.
func (c clock) skipsTime(s span) bool {
	if s.from.IsZero() || s.offsetBefore >= s.offset {
		return false
	}
	end := s.wallTime(s.from)
	at, ok := c.lastWallTime(end.Add(-time.Nanosecond), s.from.UTC().Add(s.offsetBefore))
	return ok && at.Before(end)
}

// next returns the first time after t, or zero if there is none within horizonYears.
func (c clock) next(t time.Time) time.Time {
	limit := t.AddDate(horizonYears, 0, 0)
	for at := t; at.Before(limit); {
		s := c.span(at)
		if c.includeSkipped && s.from.After(t) && c.skipsTime(s) {
			return s.from
		}
		wall := s.wallTime(at)
		if at.After(t) { // the start of a later span can match, too
			wall = wall.Add(-time.Nanosecond)
		}
		if first := s.firstShown(c.includeRepeated); !first.IsZero() && wall.Before(first) {
			wall = first.Add(-time.Nanosecond)
		}
		end := s.wallTime(limit)
		if !s.to.IsZero() && s.to.Before(limit) {
			end = s.wallTime(s.to)
		}
		if found, ok := c.firstWallTime(wall, end); ok {
			return s.realTime(found).In(t.Location())
		}
		if s.to.IsZero() {
			break
		}
		at = s.to
	}
	return time.Time{}
}

// last returns the last time after since and at or before t, or zero if there is none.
func (c clock) last(t, since time.Time) time.Time {
	for at := t; at.After(since); {
		s := c.span(at)
		if found, ok := c.lastWallTime(s.wallTime(at), s.firstShown(c.includeRepeated)); ok {
			if got := s.realTime(found); got.After(since) {
				return got.In(t.Location())
			}
			return time.Time{}
		}
		if s.from.IsZero() || !s.from.After(since) {
			return time.Time{}
		}
		if c.includeSkipped && c.skipsTime(s) {
			return s.from.In(t.Location())
		}
		at = s.from.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// firstWallTime returns the first matching local time after wall and before end.
func (c clock) firstWallTime(wall, end time.Time) (time.Time, bool) {
	at := wall.Truncate(time.Minute).Add(time.Minute)
	for at.Before(end) {
		y, m, d := at.Date()
		if c.spec.Month&(1<<uint(m)) == 0 {
			at = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if c.matchesDay(at) {
			if h, min, ok := c.firstTimeOfDay(at.Hour(), at.Minute()); ok {
				found := time.Date(y, m, d, h, min, 0, 0, time.UTC)
				return found, found.Before(end)
			}
		}
		at = time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}, false
}

// maxLookback is how far in the past a start can matter: the longest window and a day.
const maxLookback = maxLength + 24*time.Hour

// lastWallTime returns the last matching local time from `from` to wall, inclusive. It
// searches at most maxLookback before wall.
func (c clock) lastWallTime(wall, from time.Time) (time.Time, bool) {
	if far := wall.Add(-maxLookback); from.Before(far) {
		from = far
	}
	for at := wall.Truncate(time.Minute); !at.Before(from); {
		y, m, d := at.Date()
		if c.matchesDay(at) {
			if h, min, ok := c.lastTimeOfDay(at.Hour(), at.Minute()); ok {
				found := time.Date(y, m, d, h, min, 0, 0, time.UTC)
				return found, !found.Before(from)
			}
		}
		at = time.Date(y, m, d, 0, -1, 0, 0, time.UTC)
	}
	return time.Time{}, false
}

// wildcardBit marks a field that is *. It equals the private constant starBit of the cron
// library (cron.SpecSchedule).
const wildcardBit = 1 << 63

// matchesDay reports whether the expression matches the day. If it restricts both the day of
// the month and the day of the week, one match is enough.
func (c clock) matchesDay(t time.Time) bool {
	if c.spec.Month&(1<<uint(t.Month())) == 0 {
		return false
	}
	dom, dow := c.spec.Dom&(1<<uint(t.Day())) != 0, c.spec.Dow&(1<<uint(t.Weekday())) != 0
	if c.spec.Dom&wildcardBit != 0 || c.spec.Dow&wildcardBit != 0 {
		return dom && dow
	}
	return dom || dow
}

// firstTimeOfDay returns the first matching time of a day at or after h:m.
func (c clock) firstTimeOfDay(h, m int) (hour, minute int, ok bool) {
	if c.spec.Hour&(1<<uint(h)) != 0 {
		if rest := c.spec.Minute &^ wildcardBit >> uint(m) << uint(m); rest != 0 {
			return h, bits.TrailingZeros64(rest), true
		}
	}
	rest := c.spec.Hour &^ wildcardBit >> uint(h+1) << uint(h+1)
	return bits.TrailingZeros64(rest), bits.TrailingZeros64(c.spec.Minute &^ wildcardBit), rest != 0 && c.spec.Minute&^wildcardBit != 0
}

// lastTimeOfDay returns the last matching time of a day at or before h:m.
func (c clock) lastTimeOfDay(h, m int) (hour, minute int, ok bool) {
	if c.spec.Hour&(1<<uint(h)) != 0 {
		if rest := c.spec.Minute & (1<<uint(m+1) - 1); rest != 0 {
			return h, bits.Len64(rest) - 1, true
		}
	}
	rest := c.spec.Hour & (1<<uint(h) - 1)
	return bits.Len64(rest) - 1, bits.Len64(c.spec.Minute&^wildcardBit) - 1, rest != 0 && c.spec.Minute&^wildcardBit != 0
}
