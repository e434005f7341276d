// Package cron computes when a cron expression fires next in a time zone.
//
// Valid expressions fire at some time, and at most once a minute. The package never reads the current
// time and never waits.
package cron

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a valid cron expression in a time zone.
type Schedule struct {
	expr string
	loc  *time.Location
	spec *cron.SpecSchedule // nil for @every
	// every is the schedule of an @every expression, else nil.
	every cron.Schedule
	// wallClock is true if the expression contains hours. Such a schedule follows local time and
	// fires once for each of its local times.
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
	problem := cmp.Or(syntaxProblem(expr), "want five fields, such as \"0 * * * *\"")
	return fmt.Errorf("%s is not a cron expression: %s", quote(expr), problem)
}

func namesHours(expr string) bool {
	f := strings.Fields(expr)
	return len(f) == 5 && !strings.HasPrefix(f[1], "*") || expr == "@daily" || expr == "@midnight" || expr == "@weekly" || expr == "@monthly"
}

// Next returns the first time after t at which the schedule fires, or zero if it does not fire within
// five years. If an expression contains hours, it fires only once at a local time that occurs twice,
// and it does not fire at a local time that is skipped. The zero Schedule never fires.
func (s Schedule) Next(t time.Time) time.Time {
	if s.IsZero() {
		return time.Time{}
	}
	if s.every != nil {
		return s.every.Next(t.In(s.loc))
	}
	return s.clock().nextFiring(t)
}

// IsZero reports whether the schedule is the zero value, which never fires.
func (s Schedule) IsZero() bool { return s.spec == nil && s.every == nil }

// clock returns the clock that Next uses.
func (s Schedule) clock() clock {
	return clock{spec: s.spec, loc: s.loc, includeRepeated: !s.wallClock}
}

// String returns the expression.
func (s Schedule) String() string { return s.expr }

// field describes one of the five fields of a cron expression.
type field struct {
	name    string
	option  cron.ParseOption // makes the library's parser read this field
	allowed string
}

var fields = [5]field{
	{"minute", cron.Minute, "0 to 59"},
	{"hour", cron.Hour, "0 to 23"},
	{"day of the month", cron.Dom, "1 to 31"},
	{"month", cron.Month, "1 to 12, or JAN to DEC"},
	{"day of the week", cron.Dow, "0 to 6, where Sunday is 0, or SUN to SAT"},
}

const fiveFieldNames = "five: minute, hour, day of the month, month, day of the week"

// syntaxProblem describes the syntax error in expr, or returns "" if expr is valid. The errors of the
// cron library mention internal functions.
func syntaxProblem(expr string) string {
	if strings.HasPrefix(expr, "@") {
		return descriptorProblem(expr)
	}
	parts := strings.Fields(expr)
	switch len(parts) {
	case 0:
		return "it is empty (want five fields, such as \"0 * * * *\")"
	case 5:
	case 1:
		return "it has one field (want " + fiveFieldNames + ")"
	case 6:
		return "it has 6 fields, and seconds are not supported (want " + fiveFieldNames + ")"
	default:
		return fmt.Sprintf("it has %d fields (want %s)", len(parts), fiveFieldNames)
	}
	for i, f := range fields {
		if m := f.problem(parts[i]); m != "" {
			return m
		}
	}
	return ""
}

// descriptorProblem describes the syntax error in an expression that starts with @.
func descriptorProblem(expr string) string {
	every, ok := strings.CutPrefix(expr, "@every ")
	if !ok {
		return quote(expr) + " is unknown (want @hourly, @daily, @weekly, @monthly, @yearly, " +
			"or @every with a duration, such as @every 90m)"
	}
	if _, err := time.ParseDuration(every); err != nil {
		return fmt.Sprintf("%s is not a duration (want a number and a unit, such as @every 90m)", quote(every))
	}
	return ""
}

// problem describes the first invalid element of a field. Elements are values, ranges and
// steps, separated by commas.
func (f field) problem(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	if len(parts) == 0 {
		return fmt.Sprintf("%s names no %s (want %s)", quote(text), f.name, f.allowed)
	}
	// The field for seconds before the part keeps the parser from reading the part as a time zone.
	p := cron.NewParser(cron.Second | f.option)
	for _, part := range parts {
		if _, err := p.Parse("0 " + part); err == nil {
			continue
		}
		allowed := f.allowed
		if strings.ContainsAny(part, "-/") {
			allowed += ", a range such as 1-5, or a step such as */5"
		}
		return fmt.Sprintf("%s is not a valid %s (want %s)", quote(part), f.name, allowed)
	}
	return ""
}

// maxQuoted limits how many characters of an expression an error message quotes.
const maxQuoted = 60

func quote(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "..."
	}
	return strconv.Quote(text)
}
