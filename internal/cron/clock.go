package cron

import (
	"sort"
	"time"

	"github.com/robfig/cron/v3"
)

// clock computes when a cron expression fires in a time zone with clock changes, such as those
// for daylight saving time. The cron library alone handles hours that occur twice differently.
type clock struct {
	spec *cron.SpecSchedule // interprets every time in the time's own location
	loc  *time.Location
	// includeRepeated makes a local time that occurs twice fire twice. Otherwise only the first
	// occurrence fires.
	includeRepeated bool
	// includeSkipped makes a skipped local time fire at the clock change. Otherwise it does not
	// fire.
	includeSkipped bool
}

// horizonYears limits how far ahead a clock searches for a firing.
const horizonYears = 5

// span is the time from one clock change to the next. During a span, local time is UTC plus
// offset.
type span struct {
	from, to     time.Time // zero if the time zone has no earlier or later clock change
	offset       time.Duration
	offsetBefore time.Duration // offset of the previous span
}

func (c clock) span(t time.Time) span {
	t = t.In(c.loc)
	from, to := t.ZoneBounds()
	if !to.IsZero() && !to.After(t) {
		// In a leap year beyond the zone's table (2044, 2048), time.ZoneBounds ends the year a day
		// early and then returns an end that has passed.
		_, to = t.AddDate(0, 0, 1).ZoneBounds()
	}
	s := span{from, to, utcOffset(t), utcOffset(t)}
	if !from.IsZero() {
		s.offsetBefore = utcOffset(from.Add(-time.Nanosecond))
	}
	return s
}

func utcOffset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// toWallTime returns the local time at t, as a time in UTC. toInstant is the inverse.
func (s span) toWallTime(t time.Time) time.Time   { return t.UTC().Add(s.offset) }
func (s span) toInstant(wall time.Time) time.Time { return wall.Add(-s.offset) }

// firstWallTime returns the first local time of the span. If includeRepeated is false, it
// returns the first one that did not occur in the previous span. It is zero for the first span.
func (s span) firstWallTime(includeRepeated bool) time.Time {
	if s.from.IsZero() {
		return time.Time{}
	}
	if s.offsetBefore > s.offset && !includeRepeated {
		return s.from.UTC().Add(s.offsetBefore)
	}
	return s.toWallTime(s.from)
}

// skipsFiring reports whether the clock change before the span skips a local time at which the
// expression fires.
func (c clock) skipsFiring(s span) bool {
	if s.from.IsZero() || s.offsetBefore >= s.offset {
		return false
	}
	end := s.toWallTime(s.from)
	at, ok := c.lastWallTime(end.Add(-time.Nanosecond), s.from.UTC().Add(s.offsetBefore))
	return ok && at.Before(end)
}

// nextFiring returns the first firing after t, or zero if there is none within horizonYears.
func (c clock) nextFiring(t time.Time) time.Time {
	limit := t.AddDate(horizonYears, 0, 0)
	for at := t; at.Before(limit); {
		s := c.span(at)
		if c.includeSkipped && s.from.After(t) && c.skipsFiring(s) {
			return s.from
		}
		wall := s.toWallTime(at)
		if at.After(t) { // the start of a later span can match, too
			wall = wall.Add(-time.Nanosecond)
		}
		if first := s.firstWallTime(c.includeRepeated); !first.IsZero() && wall.Before(first) {
			wall = first.Add(-time.Nanosecond)
		}
		end := s.toWallTime(limit)
		if !s.to.IsZero() && s.to.Before(limit) {
			end = s.toWallTime(s.to)
		}
		if found, ok := c.firstWallTime(wall, end); ok {
			return s.toInstant(found).In(t.Location())
		}
		if s.to.IsZero() {
			break
		}
		at = s.to
	}
	return time.Time{}
}

// lastFiring returns the last firing after since and at or before t, or zero if there is none.
func (c clock) lastFiring(t, since time.Time) time.Time {
	for at := t; at.After(since); {
		s := c.span(at)
		if found, ok := c.lastWallTime(s.toWallTime(at), s.firstWallTime(c.includeRepeated)); ok {
			if got := s.toInstant(found); got.After(since) {
				return got.In(t.Location())
			}
			return time.Time{}
		}
		if s.from.IsZero() || !s.from.After(since) {
			return time.Time{}
		}
		if c.includeSkipped && c.skipsFiring(s) {
			return s.from.In(t.Location())
		}
		at = s.from.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// firstWallTime returns the first matching local time after wall and before end.
func (c clock) firstWallTime(wall, end time.Time) (time.Time, bool) {
	nextMinute := wall.Truncate(time.Minute).Add(time.Minute)
	at := c.spec.Next(nextMinute.Add(-time.Nanosecond))
	return at, !at.IsZero() && at.Before(end)
}

// maxLookback limits the search for the last start: the longest window and a day.
const maxLookback = maxLength + 24*time.Hour

// lastWallTime returns the last matching local time between from and wall, inclusive. It
// searches at most maxLookback before wall.
func (c clock) lastWallTime(wall, from time.Time) (time.Time, bool) {
	if earliest := wall.Add(-maxLookback); from.Before(earliest) {
		from = earliest
	}
	first, found := c.firstWallTime(from.Add(-time.Nanosecond), wall.Add(time.Nanosecond))
	if !found {
		return time.Time{}, false
	}
	// The last start is the last minute at or after which a start follows until wall.
	minutesLater := func(n int) time.Time { return first.Add(time.Duration(n) * time.Minute) }
	n := sort.Search(int(wall.Sub(first)/time.Minute), func(n int) bool {
		_, more := c.firstWallTime(minutesLater(n), wall.Add(time.Nanosecond))
		return !more
	})
	return minutesLater(n), true
}
