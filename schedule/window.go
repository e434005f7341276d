package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of a window's length. A week repeats; what is longer never closes.
const (
	minLength = time.Minute
	maxLength = 7 * 24 * time.Hour
)

// Window is a span of time that opens on a schedule and stays open for a while.
type Window struct {
	start  Schedule
	length time.Duration
}

// NewWindow makes a window that opens when expr fires in loc.
func NewWindow(expr string, length time.Duration, loc *time.Location) (Window, error) {
	if length < minLength || length > maxLength {
		return Window{}, fmt.Errorf("a window of %s makes no sense (want 1m to 168h)", short(length))
	}
	if strings.HasPrefix(strings.TrimSpace(expr), "@every") {
		return Window{}, fmt.Errorf("a window cannot open %q: that names no times (want cron fields, such as \"0 22 * * *\")", expr)
	}
	start, err := Parse(expr, loc)
	return Window{start, length}, err
}

// ParseWindow reads a window in one line: five cron fields (or @daily ...), how
// long it stays open, and a time zone when it is not loc, such as
// "0 22 * * 1-5 6h Europe/Berlin".
func ParseWindow(text string, loc *time.Location) (Window, error) {
	fields := strings.Fields(text)
	cron := 5
	if strings.HasPrefix(text, "@") {
		cron = 1
	}
	if len(fields) == cron+2 {
		zone, err := LoadZone(fields[cron+1])
		if err != nil {
			return Window{}, err
		}
		loc, fields = zone, fields[:cron+1]
	}
	if len(fields) != cron+1 {
		return Window{}, fmt.Errorf("%q is not a window (want cron fields, a duration and perhaps a time zone, such as \"0 22 * * 1-5 6h Europe/Berlin\")", text)
	}
	length, err := time.ParseDuration(fields[cron])
	if err != nil {
		return Window{}, fmt.Errorf("%q is not a window: %q is not a duration (want a number and a unit, such as 6h)", text, fields[cron])
	}
	return NewWindow(strings.Join(fields[:cron], " "), length, loc)
}

// LoadZone finds a time zone by its IANA name.
func LoadZone(name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)", name)
	}
	return loc, nil
}

// Until is when the window that is open at t closes; zero when none is open. A
// window that opens again before it closes counts as one.
func (w Window) Until(t time.Time) time.Time {
	at := w.start.Next(t.Add(-w.length))
	if at.IsZero() || at.After(t) {
		return time.Time{}
	}
	for {
		next := w.start.Next(at)
		if next.IsZero() || next.After(t) {
			return at.Add(w.length)
		}
		at = next
	}
}

// Open reports whether the window is open at t.
func (w Window) Open(t time.Time) bool {
	at := w.start.Next(t.Add(-w.length))
	return !at.IsZero() && !at.After(t)
}

// String is the window in the form of ParseWindow.
func (w Window) String() string {
	return fmt.Sprintf("%s %s %s", w.start.expr, short(w.length), w.start.loc)
}

func short(d time.Duration) string {
	s := d.String()
	for _, cut := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, cut) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// Windows say when something may happen: always, unless there are allow windows
// and none of them is open, or a deny window is.
type Windows struct{ Allow, Deny []Window }

// horizon bounds how far ahead a closing time is looked for.
const horizon = 24 * time.Hour

// Open reports whether things may happen at t. Why says in words why not.
func (w Windows) Open(t time.Time) (why string, open bool) {
	for _, d := range w.Deny {
		if d.Open(t) {
			return fmt.Sprintf("the deny window %q is open until %s", d, d.Until(t).UTC().Format(time.RFC3339)), false
		}
	}
	if len(w.Allow) == 0 {
		return "", true
	}
	for _, a := range w.Allow {
		if a.Open(t) {
			return "", true
		}
	}
	return "no allow window is open" + w.nextOpening(t), false
}

func (w Windows) nextOpening(t time.Time) string {
	var first time.Time
	for _, a := range w.Allow {
		if next := a.start.Next(t); !next.IsZero() && (first.IsZero() || next.Before(first)) {
			first = next
		}
	}
	if first.IsZero() {
		return ""
	}
	return "; the next opens at " + first.UTC().Format(time.RFC3339)
}

// Until is when things may no longer happen that may happen at t; zero when
// that is more than a day ahead.
func (w Windows) Until(t time.Time) time.Time {
	end := t.Add(horizon)
	for _, d := range w.Deny {
		if next := d.start.Next(t); !next.IsZero() && next.Before(end) {
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
	for at.Before(end) {
		next := at
		for _, a := range w.Allow {
			if u := a.Until(at); u.After(next) {
				next = u
			}
		}
		if !next.After(at) {
			return at
		}
		at = next
	}
	return end
}
