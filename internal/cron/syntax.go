package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// field describes one of the five fields of a cron expression.
type field struct {
	name     string
	min, max int
	// aliases are the names of the numbers from min on.
	aliases []string
	allowed string
}

var fields = [5]field{
	{"minute", 0, 59, nil, "0 to 59"},
	{"hour", 0, 23, nil, "0 to 23"},
	{"day of the month", 1, 31, nil, "1 to 31"},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}, "1 to 12, or JAN to DEC"},
	{"day of the week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, "0 to 6, where Sunday is 0, or SUN to SAT"},
}

const fiveFieldNames = "five: minute, hour, day of the month, month, day of the week"

// syntaxProblem describes what is wrong with expr, or returns "" if it finds nothing. The
// library's own errors name its internal functions.
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

// descriptorProblem describes what is wrong with an expression such as @hourly.
func descriptorProblem(expr string) string {
	every, ok := strings.CutPrefix(expr, "@every ")
	if !ok {
		return fmt.Sprintf(
			"%s is unknown (want @hourly, @daily, @weekly, @monthly, @yearly, or @every with a duration, such as @every 90m)",
			quote(expr),
		)
	}
	if _, err := time.ParseDuration(every); err != nil {
		return fmt.Sprintf("%s is not a duration (want a number and a unit, such as @every 90m)", quote(every))
	}
	return ""
}

// problem describes what is wrong with one field, which has values, ranges and steps,
// separated by commas.
func (f field) problem(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	if len(parts) == 0 {
		return fmt.Sprintf("%s names no %s (want %s)", quote(text), f.name, f.allowed)
	}
	for _, part := range parts {
		values, step, stepped := strings.Cut(part, "/")
		if m := f.checkRange(values); m != "" {
			return m
		}
		if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1) {
			return fmt.Sprintf("%s in %s is not a step (want a number of at least 1)", quote(step), quote(part))
		}
	}
	return ""
}

// checkRange checks *, a value, or a range of values.
func (f field) checkRange(text string) string {
	first, last, ranged := strings.Cut(text, "-")
	if first == "*" || first == "?" {
		return ""
	}
	from, ok := f.parseValue(first)
	if !ok {
		return f.unknownValue(first)
	}
	if !ranged {
		return ""
	}
	if strings.Contains(last, "-") {
		return fmt.Sprintf("%s is not a range (want two ends, such as 1-5)", quote(text))
	}
	to, ok := f.parseValue(last)
	if !ok {
		return f.unknownValue(last)
	}
	if to < from {
		return fmt.Sprintf("%s ends before it begins", quote(text))
	}
	return ""
}

func (f field) parseValue(text string) (int, bool) {
	for i, name := range f.aliases {
		if strings.EqualFold(text, name) {
			return f.min + i, true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= f.min && n <= f.max
}

func (f field) unknownValue(text string) string {
	return fmt.Sprintf("%s is not a valid %s (want %s)", quote(text), f.name, f.allowed)
}

// maxQuoted is how many characters of an expression an error quotes.
const maxQuoted = 60

func quote(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "..."
	}
	return strconv.Quote(text)
}
