package cron

import (
	"fmt"
	"strings"
	"time"
)

// A weekly window that is longer than maxLength never closes.
const (
	minLength = time.Minute
	maxLength = 7 * 24 * time.Hour
)

// Window opens on a schedule and stays open for a fixed length. An allow window opens once for a local
// time that occurs twice, and never for a skipped local time. A deny window opens both times, and at
// the clock change for a skipped local time.
type Window struct {
	start  Schedule
	length time.Duration
}

// NewWindow returns a window that opens when expr fires in loc.
func NewWindow(expr string, length time.Duration, loc *time.Location) (Window, error) {
	if err := CheckLength(length); err != nil {
		return Window{}, err
	}
	start, err := ParseStart(expr, loc)
	return Window{start, length}, err
}

// CheckLength returns an error if a window cannot have this length.
func CheckLength(length time.Duration) error {
	if length < minLength || length > maxLength {
		return fmt.Errorf("a window of %s makes no sense (want 1m to 168h)", formatDuration(length))
	}
	return nil
}

// ParseStart reads the cron expression for the start of a window. It accepts the same expressions as
// Parse, except @every.
func ParseStart(expr string, loc *time.Location) (Schedule, error) {
	if strings.HasPrefix(strings.TrimSpace(expr), "@every") {
		return Schedule{}, fmt.Errorf("%s cannot start a window: it names no times (want cron fields, such as \"0 22 * * *\")", quote(expr))
	}
	return Parse(expr, loc)
}

// ParseWindow reads a window such as "0 22 * * 1-5 6h Europe/Berlin": a cron expression, a length, and
// an optional time zone that overrides loc.
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
		return Window{}, fmt.Errorf("%s is not a window (want cron fields, a duration and perhaps a time zone, "+
			"such as \"0 22 * * 1-5 6h Europe/Berlin\")", quote(text))
	}
	length, err := time.ParseDuration(fields[cron])
	if err != nil {
		return Window{}, fmt.Errorf("%s is not a window: %s is not a duration (want a number and a unit, such as 6h)",
			quote(text), quote(fields[cron]))
	}
	return NewWindow(strings.Join(fields[:cron], " "), length, loc)
}

// LoadZone returns the time zone with an IANA name.
func LoadZone(name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%s is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)", quote(name))
	}
	return loc, nil
}

// Until returns the closing time of a window that is open at t, or zero if the window is closed. Each
// start before t extends the time during which the window is open.
func (w Window) Until(t time.Time) time.Time { return w.closesAt(t, w.start.clock()) }

// Open reports whether the window is open at t.
func (w Window) Open(t time.Time) bool { return !w.Until(t).IsZero() }

func (w Window) closesAt(t time.Time, c clock) time.Time {
	at := c.lastFiring(t, t.Add(-w.length))
	if at.IsZero() {
		return at
	}
	return at.Add(w.length)
}

// denyClock returns the clock of a deny window, which includes repeated and skipped local times.
func (w Window) denyClock() clock {
	c := w.start.clock()
	c.includeRepeated, c.includeSkipped = true, true
	return c
}

// String returns the window in the form that ParseWindow reads.
func (w Window) String() string {
	return fmt.Sprintf("%s %s %s", w.start.expr, formatDuration(w.length), w.start.loc)
}

func formatDuration(d time.Duration) string {
	s := d.String()
	for _, cut := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, cut) {
			s = s[:len(s)-2]
		}
	}
	return s
}
