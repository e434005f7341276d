package planverifier

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Window is a span of time that begins whenever the clock on the wall of a place
// shows one of some times.
type Window struct {
	Fields   string // of cron: numbers, *, lists, ranges and steps
	Length   time.Duration
	Location *time.Location
}

func (w Window) String() string { return fmt.Sprintf("%s %s %s", w.Fields, w.Length, w.Location) }

// parseWindow reads a window of an annotation.
func parseWindow(text string, loc *time.Location) (Window, error) {
	f := strings.Fields(text)
	if len(f) == 7 {
		at, err := time.LoadLocation(f[6])
		if err != nil {
			return Window{}, err
		}
		loc, f = at, f[:6]
	}
	if len(f) != 6 {
		return Window{}, fmt.Errorf("%q has %d fields", text, len(f))
	}
	length, err := time.ParseDuration(f[5])
	if err != nil {
		return Window{}, err
	}
	w := Window{strings.Join(f[:5], " "), length, loc}
	_, err = w.parseFields()
	return w, err
}

// cronFields are what each of the five lets through. star says that all days of the
// month, or all of the week, are let through.
type cronFields struct {
	matches [5][60]bool
	anyDay  bool
}

// parseFields reads the fields.
func (w Window) parseFields() (cronFields, error) {
	var out cronFields
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	f := strings.Fields(w.Fields)
	if len(f) != 5 {
		return out, fmt.Errorf("%q has %d fields, not 5", w.Fields, len(f))
	}
	for i, field := range f {
		for _, part := range strings.Split(field, ",") {
			numbers, err := parseField(part, bounds[i][0], bounds[i][1])
			if err != nil {
				return out, err
			}
			for _, n := range numbers {
				out.matches[i][n] = true
			}
		}
	}
	out.anyDay = f[2] == "*" || f[4] == "*"
	return out, nil
}

// parseField reads 7, 3-9, * or one of the latter with /step.
func parseField(part string, low, high int) ([]int, error) {
	span, by, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(by)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("step %q", by)
		}
		step = n
	}
	if span != "*" {
		from, to, isRange := strings.Cut(span, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil, err
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil {
				return nil, err
			}
		}
		if a < low || b > high || a > b {
			return nil, fmt.Errorf("%q is not within %d-%d", span, low, high)
		}
		low, high = a, b
	}
	var out []int
	for n := low; n <= high; n += step {
		out = append(out, n)
	}
	return out, nil
}

// matchesTime says whether the wall, which shows t, shows a time at which the window
// begins. Where days of the month and of the week are given, one is enough.
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

// clockTimes is the minutes of a place from one time on: what its clock shows, in UTC.
type clockTimes []time.Time

// A check of a window covers windowHorizon in steps of windowStep.
const (
	windowStep    = 5 * time.Minute
	windowHorizon = 24 * time.Hour
)

// How far the wall is read before and after now. No window here is longer than
// a day; the rest is for the hour that comes twice.
const (
	maxWindow  = 24 * time.Hour
	lookBehind = maxWindow + 4*time.Hour
	lookAhead  = windowHorizon + 2*time.Hour
)

// windowClock computes when windows open around now.
type windowClock struct {
	now time.Time
	// clocks are the local times around now, by time zone.
	clocks map[string]clockTimes
	// windowStarts are the minutes at which windows open, by window.
	windowStarts map[string][]int
}

func (r *windowClock) localTimes(loc *time.Location) clockTimes {
	if r.clocks[loc.String()] == nil {
		out := clockTimes{}
		for t := r.now.Truncate(time.Minute).Add(-lookBehind); t.Before(r.now.Add(lookAhead)); t = t.Add(time.Minute) {
			at := t.In(loc)
			out = append(out, time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC))
		}
		r.clocks[loc.String()] = out
	}
	return r.clocks[loc.String()]
}

// startsOf are the minutes, counted as those of the wall, at which a window opens.
// A time that the clock shows twice opens a window that denies both times, and
// one that allows only at first, unless it opens every hour. A time that it
// leaves out opens what denies right after, and what allows not at all.
func (r *windowClock) startsOf(w Window, denies bool) []int {
	key := fmt.Sprint(w, denies)
	if out, done := r.windowStarts[key]; done {
		return out
	}
	times, err := w.parseFields()
	if err != nil || w.Length > maxWindow {
		panic(fmt.Sprintf("window %s is not for this witness: %v", w, err))
	}
	hourly := strings.Fields(w.Fields)[1][0] == '*'
	shown, out := r.localTimes(w.Location), []int{}
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
	r.windowStarts[key] = out
	return out
}

// windowOpen looks whether a window began at most its length before t.
func (r *windowClock) windowOpen(w Window, denies bool, t time.Time) bool {
	first := r.now.Truncate(time.Minute).Add(-lookBehind)
	for _, i := range r.startsOf(w, denies) {
		begin := first.Add(time.Duration(i) * time.Minute)
		if !begin.After(t) && t.Before(begin.Add(w.Length)) {
			return true
		}
	}
	return false
}
