// Package cron computes when a cron expression fires next in a time zone.
//
// It decides which expressions are valid: they must fire at some time, and at most once a
// minute. It never reads a clock and never waits.
package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a valid cron expression in a time zone.
type Schedule struct {
	expr string
	loc  *time.Location
	// spec holds the fields of the expression. It is nil for @every.
	spec  *cron.SpecSchedule
	every cron.Schedule
	// wallClock is true if the expression names hours. Such a schedule follows local time and
	// fires once for each time that it names.
	wallClock bool
}

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Parse reads a five-field cron expression (minute, hour, day of month, month, day of week),
// or @hourly, @daily, @weekly, @monthly, @yearly, or @every with a duration, such as @every
// 90m.
func Parse(expr string, loc *time.Location) (s Schedule, err error) {
	trimmed := strings.TrimSpace(expr)
	defer func() { // the parser panics on some malformed input
		if r := recover(); r != nil {
			err = syntaxError(trimmed)
		}
	}()
	if strings.HasPrefix(trimmed, "TZ=") || strings.HasPrefix(trimmed, "CRON_TZ=") {
		return Schedule{}, fmt.Errorf("%s names a time zone; set timeZone instead", quote(trimmed))
	}
	if every, ok := strings.CutPrefix(trimmed, "@every "); ok {
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err == nil && d < time.Minute {
			return Schedule{}, fmt.Errorf("%s fires more than once a minute or never (want @every 1m or longer)", quote(trimmed))
		}
	}
	next, err := parser.Parse(trimmed)
	if err != nil {
		return Schedule{}, syntaxError(trimmed)
	}
	s = Schedule{expr: trimmed, loc: loc, wallClock: namesHours(trimmed)}
	if times, ok := next.(*cron.SpecSchedule); ok {
		s.spec = times
	} else {
		s.every = next
	}
	if s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		if syntaxProblem(trimmed) != "" { // the parser accepts a lone comma
			return Schedule{}, syntaxError(trimmed)
		}
		return Schedule{}, fmt.Errorf("%s never fires: no year has such a day", quote(trimmed))
	}
	return s, nil
}

// syntaxError describes why the parser rejects expr.
func syntaxError(expr string) error {
	m := syntaxProblem(expr)
	if m == "" {
		m = genericProblem
	}
	return fmt.Errorf("%s is not a cron expression: %s", quote(expr), m)
}

// genericProblem is the message if syntaxProblem finds no specific problem.
const genericProblem = "want five fields, such as \"0 * * * *\""

func namesHours(expr string) bool {
	f := strings.Fields(expr)
	return len(f) == 5 && !strings.HasPrefix(f[1], "*") || expr == "@daily" || expr == "@midnight" || expr == "@weekly" || expr == "@monthly"
}

// Next returns the first time after t at which the schedule fires, or zero if there is none
// within five years. If a named hour occurs twice, the schedule fires only the first time. If
// a transition skips a named time, the schedule does not fire.
func (s Schedule) Next(t time.Time) time.Time {
	if s.every != nil {
		return s.every.Next(t.In(s.loc))
	}
	return s.clock().nextFiring(t)
}

// clock returns a clock that ignores second occurrences and skipped times.
func (s Schedule) clock() clock {
	return clock{spec: s.spec, loc: s.loc, includeRepeated: !s.wallClock}
}

// String returns the expression.
func (s Schedule) String() string { return s.expr }
