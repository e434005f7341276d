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

// readWindow reads a window of an annotation.
func readWindow(text string, loc *time.Location) (Window, error) {
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
	_, err = w.times()
	return w, err
}

// fields are what each of the five lets through. star says that all days of the
// month, or all of the week, are let through.
type fields struct {
	on   [5][60]bool
	star bool
}

// times reads the fields.
func (w Window) times() (fields, error) {
	var out fields
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	f := strings.Fields(w.Fields)
	if len(f) != 5 {
		return out, fmt.Errorf("%q has %d fields, not 5", w.Fields, len(f))
	}
	for i, field := range f {
		for _, part := range strings.Split(field, ",") {
			numbers, err := one(part, bounds[i][0], bounds[i][1])
			if err != nil {
				return out, err
			}
			for _, n := range numbers {
				out.on[i][n] = true
			}
		}
	}
	out.star = f[2] == "*" || f[4] == "*"
	return out, nil
}

// one reads 7, 3-9, * or one of the latter with /step.
func one(part string, low, high int) ([]int, error) {
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

// show says whether the wall, which shows t, shows a time at which the window
// begins. Where days of the month and of the week are given, one is enough.
func (f *fields) show(t time.Time) bool {
	if !f.on[0][t.Minute()] || !f.on[1][t.Hour()] || !f.on[3][t.Month()] {
		return false
	}
	dom, dow := f.on[2][t.Day()], f.on[4][t.Weekday()]
	if f.star {
		return dom && dow
	}
	return dom || dow
}

// wall is the minutes of a place from one time on: what its clock shows, in UTC.
type wall []time.Time

// How far the wall is read before and after now. No window here is longer than
// a day; the rest is for the hour that comes twice.
const (
	longest = 24 * time.Hour
	before  = longest + 4*time.Hour
	after   = horizon + 2*time.Hour
)

func (r *replay) wall(loc *time.Location) wall {
	if r.walls[loc.String()] == nil {
		out := wall{}
		for t := r.now.Truncate(time.Minute).Add(-before); t.Before(r.now.Add(after)); t = t.Add(time.Minute) {
			at := t.In(loc)
			out = append(out, time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC))
		}
		r.walls[loc.String()] = out
	}
	return r.walls[loc.String()]
}

// begins are the minutes, counted as those of the wall, at which a window opens.
// A time that the clock shows twice opens a window that denies both times, and
// one that allows only at first, unless it opens every hour. A time that it
// leaves out opens what denies right after, and what allows not at all.
func (r *replay) begins(w Window, denies bool) []int {
	key := fmt.Sprint(w, denies)
	if out, done := r.beginnings[key]; done {
		return out
	}
	times, err := w.times()
	if err != nil || w.Length > longest {
		panic(fmt.Sprintf("window %s is not for this witness: %v", w, err))
	}
	hourly := strings.Fields(w.Fields)[1][0] == '*'
	shown, out := r.wall(w.Location), []int{}
	latest := time.Time{}
	for i, t := range shown {
		again := !t.After(latest)
		begins := times.show(t) && (denies || hourly || !again)
		if i > 0 && denies {
			for missed := shown[i-1].Add(time.Minute); missed.Before(t); missed = missed.Add(time.Minute) {
				begins = begins || times.show(missed)
			}
		}
		if begins {
			out = append(out, i)
		}
		if t.After(latest) {
			latest = t
		}
	}
	r.beginnings[key] = out
	return out
}

// isOpen looks whether a window began at most its length before t.
func (r *replay) isOpen(w Window, denies bool, t time.Time) bool {
	first := r.now.Truncate(time.Minute).Add(-before)
	for _, i := range r.begins(w, denies) {
		begin := first.Add(time.Duration(i) * time.Minute)
		if !begin.After(t) && t.Before(begin.Add(w.Length)) {
			return true
		}
	}
	return false
}
