package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

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
