// Package schedule says when a cron expression fires next, in a time zone.
//
// It decides which expressions make sense: those that fire at all, and not
// more than once a minute. It never reads a clock and never waits.
package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a checked cron expression in its time zone.
type Schedule struct {
	expr string
	loc  *time.Location
	next cron.Schedule
	// wall says that the expression names hours: it follows the clock on the
	// wall, and fires once for each time it names.
	wall bool
}

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Parse reads the five fields of cron (minute, hour, day of month, month, day
// of week) or @hourly, @daily, @weekly, @monthly, @yearly, @every 90m.
func Parse(expr string, loc *time.Location) (s Schedule, err error) {
	defer func() { // the parser panics on some malformed input
		if r := recover(); r != nil {
			err = fmt.Errorf("%q is not a cron expression (want five fields, such as \"0 * * * *\")", expr)
		}
	}()
	trimmed := strings.TrimSpace(expr)
	if strings.HasPrefix(trimmed, "TZ=") || strings.HasPrefix(trimmed, "CRON_TZ=") {
		return Schedule{}, fmt.Errorf("%q names a time zone; set timeZone instead", expr)
	}
	if every, ok := strings.CutPrefix(trimmed, "@every "); ok {
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err == nil && d < time.Minute {
			return Schedule{}, fmt.Errorf("%q fires more than once a minute, or never (want @every 1m or longer)", expr)
		}
	}
	next, err := parser.Parse(trimmed)
	if err != nil {
		return Schedule{}, fmt.Errorf("%q is not a cron expression: %s%s", expr, strings.TrimPrefix(err.Error(), "failed to parse "), hint(trimmed))
	}
	s = Schedule{expr: trimmed, loc: loc, next: next, wall: namesHours(trimmed)}
	if s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, fmt.Errorf("%q never fires: no year has such a day", expr)
	}
	return s, nil
}

func hint(expr string) string {
	switch f := strings.Fields(expr); {
	case len(f) == 6:
		return " (seconds are not supported: want five fields)"
	case len(f) == 5 && strings.Contains(f[4], "7"):
		return " (Sunday is 0)"
	}
	return ""
}

func namesHours(expr string) bool {
	f := strings.Fields(expr)
	return len(f) == 5 && !strings.HasPrefix(f[1], "*") || expr == "@daily" || expr == "@midnight" || expr == "@weekly" || expr == "@monthly"
}

// Next is the first time after t at which the schedule fires; zero when there
// is none within five years. Where clocks go back, a named hour comes twice but
// fires once; where they go forward, a time that is left out does not fire.
func (s Schedule) Next(t time.Time) time.Time {
	next := s.next.Next(t.In(s.loc))
	for s.wall && !next.IsZero() && repeated(next) { // at most an hour's worth
		next = s.next.Next(next)
	}
	return next
}

// repeated reports whether the wall clock showed the same time an hour before.
func repeated(t time.Time) bool {
	before := t.Add(-time.Hour)
	return before.Hour() == t.Hour() && before.Minute() == t.Minute() && before.Day() == t.Day()
}

// String is the expression.
func (s Schedule) String() string { return s.expr }
