// Package windows computes when time windows open, minute by minute, for package planverifier. It is written from the
// documentation of windows and shares no code with the planner. It never decides whether a pod may be evicted.
package windows

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window opens at the times of a cron expression and stays open for a fixed length.
type Window struct {
	Fields   string // of cron: numbers, *, lists, ranges and steps
	Length   time.Duration
	Location *time.Location
}

func (w Window) String() string { return fmt.Sprintf("%s %s %s", w.Fields, w.Length, w.Location) }

// Parse parses one window of an annotation value.
func Parse(text string, loc *time.Location) (Window, error) {
	f := strings.Fields(text)
	if len(f) == 7 {
		at, err := time.LoadLocation(f[6])
		if err != nil {
			return Window{}, err
		}
		loc, f = at, f[:6]
	}
	if len(f) != 6 {
		return Window{}, fmt.Errorf("window %q has %d fields, want 6 or 7", text, len(f))
	}
	length, err := time.ParseDuration(f[5])
	if err != nil {
		return Window{}, err
	}
	w := Window{strings.Join(f[:5], " "), length, loc}
	_, err = w.parseFields()
	return w, err
}

// cronFields holds the values that each of the five cron fields matches. anyDay is true if the day
// of month or the day of week is *.
type cronFields struct {
	matches [5][60]bool
	anyDay  bool
}

// parseFields parses the cron fields.
func (w Window) parseFields() (cronFields, error) {
	var out cronFields
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	f := strings.Fields(w.Fields)
	if len(f) != 5 {
		return out, fmt.Errorf("schedule %q has %d fields, want 5", w.Fields, len(f))
	}
	for i, field := range f {
		for _, part := range strings.Split(field, ",") {
			if err := parseField(part, bounds[i][0], bounds[i][1], &out.matches[i]); err != nil {
				return out, err
			}
		}
	}
	out.anyDay = f[2] == "*" || f[4] == "*"
	return out, nil
}

// parseField parses one part of a cron field: a number, a range such as 3-9, or *. A range or * may end in /step.
func parseField(part string, low, high int, matches *[60]bool) error {
	span, by, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(by)
		if err != nil || n < 1 {
			return fmt.Errorf("step %q is not a positive number", by)
		}
		step = n
	}
	if span != "*" {
		from, to, isRange := strings.Cut(span, "-")
		if !isRange {
			to = from
		}
		a, errFrom := strconv.Atoi(from)
		b, errTo := strconv.Atoi(to)
		if err := errors.Join(errFrom, errTo); err != nil {
			return err
		}
		if a < low || b > high || a > b {
			return fmt.Errorf("%q is not within %d-%d", span, low, high)
		}
		low, high = a, b
	}
	for n := low; n <= high; n += step {
		matches[n] = true
	}
	return nil
}

// matchesTime reports whether a window starts at the local time t. If both the day of month
// and the day of week are given, one match is enough.
func (f *cronFields) matchesTime(t time.Time) bool {
	if !f.matches[0][t.Minute()] || !f.matches[1][t.Hour()] || !f.matches[3][t.Month()] {
		return false
	}
	dom, dow := f.matches[2][t.Day()], f.matches[4][t.Weekday()]
	if f.anyDay {
		return dom && dow
	}
	return dom || dow
}

// clockTimes holds the wall-clock times of consecutive minutes in one time zone, stored as UTC.
type clockTimes []time.Time

// Horizon is the time after now for which a Clock knows the windows.
const Horizon = 24 * time.Hour

// The local times cover lookBehind before now and lookAhead after now. Both periods are some hours longer than
// windows need, which allows for clock changes.
const (
	maxWindow  = 24 * time.Hour
	lookBehind = maxWindow + 4*time.Hour
	lookAhead  = Horizon + 2*time.Hour
)

// Clock computes when windows open around now.
type Clock struct {
	now time.Time
	// clocks maps each time zone to its local times around now.
	clocks map[string]clockTimes
	// starts maps each window to the minutes at which it opens.
	starts map[string][]int
}

// NewClock returns a clock for the time now.
func NewClock(now time.Time) *Clock {
	return &Clock{now: now, clocks: map[string]clockTimes{}, starts: map[string][]int{}}
}

func (c *Clock) localTimes(loc *time.Location) clockTimes {
	if c.clocks[loc.String()] == nil {
		out := clockTimes{}
		for t := c.now.Truncate(time.Minute).Add(-lookBehind); t.Before(c.now.Add(lookAhead)); t = t.Add(time.Minute) {
			at := t.In(loc)
			out = append(out, time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC))
		}
		c.clocks[loc.String()] = out
	}
	return c.clocks[loc.String()]
}

// startsOf returns the minutes at which a window opens, as indexes into the local times. If a local time occurs
// twice, a deny window opens both times; an allow window opens once, unless it opens every hour. If a local time
// is skipped, a deny window opens right after the gap; an allow window does not open.
func (c *Clock) startsOf(w Window, denies bool) []int {
	key := fmt.Sprint(w, denies)
	if out, done := c.starts[key]; done {
		return out
	}
	times, err := w.parseFields()
	if err != nil || w.Length > maxWindow {
		panic(fmt.Sprintf("windows: unsupported window %s: %v", w, err))
	}
	hourly := strings.Fields(w.Fields)[1][0] == '*'
	shown, out := c.localTimes(w.Location), []int{}
	latest := time.Time{}
	for i, t := range shown {
		again := !t.After(latest)
		begins := times.matchesTime(t) && (denies || hourly || !again)
		if i > 0 && denies {
			for missed := shown[i-1].Add(time.Minute); missed.Before(t); missed = missed.Add(time.Minute) {
				begins = begins || times.matchesTime(missed)
			}
		}
		if begins {
			out = append(out, i)
		}
		if t.After(latest) {
			latest = t
		}
	}
	c.starts[key] = out
	return out
}

// IsOpen reports whether a window is open at t.
func (c *Clock) IsOpen(w Window, denies bool, t time.Time) bool {
	first := c.now.Truncate(time.Minute).Add(-lookBehind)
	return slices.ContainsFunc(c.startsOf(w, denies), func(minute int) bool {
		begin := first.Add(time.Duration(minute) * time.Minute)
		return !begin.After(t) && t.Before(begin.Add(w.Length))
	})
}
