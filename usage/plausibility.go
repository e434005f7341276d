package usage

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Unit is the unit of a number that a source gives.
type Unit int

// Units. A Reading has cpu in milliCPU, memory in bytes, and anything else in millionths.
const (
	Cores    Unit = iota // of cpu
	Bytes                // of memory
	Share                // 0..1 of the node's cpu or memory capacity; stored as an amount
	Fraction             // 0..1 of what the query measures
	Number               // any number, in the unit of the query's user
)

const (
	// maxPlausibleFrac is the maximum plausible share of a whole. A share of capacity should
	// not exceed 1. However, rates are extrapolated to the ends of their window: with a scrape
	// interval of 60 s and a window of 2 min, a rate can be a few percent too high. CPU
	// accounting and measurement also use different ticks. A margin of 25 % covers both.
	maxPlausibleFrac = 1.25
	// A share between minPercent and maxPercent must be a percentage. The values of other nodes
	// are then percentages too, and 0.9 % must not be read as 90 %. The whole answer is
	// rejected. A value above maxPercent is not a percentage and says nothing about other
	// nodes.
	minPercent = 2
	maxPercent = 100 * maxPlausibleFrac
	// negativeTolerance is the rounding error that subtracting two equal sums can leave.
	negativeTolerance = -1e-6
	// maxAmount keeps numbers, and amounts of nodes with unknown capacity, within 63 bits. In
	// millionths that is 9.2e12, or about 8 TiB in bytes.
	maxAmount = 9.2e12
)

func (u Unit) isRatio() bool { return u == Share || u == Fraction }

// maxPlausible returns the maximum plausible value for a node with that capacity, in milliCPU
// or bytes.
func (u Unit) maxPlausible(capacity float64) float64 {
	switch {
	case u.isRatio():
		return maxPlausibleFrac
	case u == Cores && capacity > 0:
		return capacity / 1000 * maxPlausibleFrac
	case u == Bytes && capacity > 0:
		return capacity * maxPlausibleFrac
	}
	return maxAmount
}

// check says why a value cannot be used. An empty kind means that it can.
func (u Unit) check(v, capacity float64) (ProblemKind, string) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return NotANumber, "not a finite number for"
	case u == Number && math.Abs(v) > maxAmount:
		return Implausible, "too large a number for"
	case u == Number:
		return "", ""
	case v < negativeTolerance:
		return Implausible, "less than nothing for"
	case v > u.maxPlausible(capacity) && u.isRatio():
		return Implausible, "far more than the whole (want 0..1) for"
	case v > u.maxPlausible(capacity):
		return Implausible, "far more than there is on"
	case u == Share && capacity <= 0:
		return Missing, "a share of an unknown capacity for"
	}
	return "", ""
}

// amount converts a checked value to the units of a Reading.
func (u Unit) amount(v, capacity float64) int64 {
	switch u {
	case Cores:
		v *= 1000
	case Share:
		v *= capacity
	case Fraction, Number:
		v *= 1e6
	}
	if u != Number {
		v = max(v, 0)
	}
	return int64(math.Round(v))
}

// rejectPercentages reports whether an answer is in percent, and adds a problem if so.
func (g *SampleBuilder) rejectPercentages(resource string, values []Value) bool {
	for _, v := range values {
		if v.Amount > minPercent && v.Amount <= maxPercent {
			g.AddProblem(Implausible, fmt.Sprintf("%s: %.4g for %s is no ratio (want 0..1; is it a percentage?), so none of the %d values is used",
				resource, v.Amount, sanitize(v.Node, maxName), len(values)))
			return true
		}
	}
	return false
}

// checkAge says why a measurement time cannot be used. An empty kind means that it can.
func (g *SampleBuilder) checkAge(at time.Time) (ProblemKind, string) {
	switch age := g.now.Sub(at); {
	case age > g.maxAge:
		return Stale, fmt.Sprintf("measured more than %s ago for", g.maxAge)
	case age < -cluster.MaxClockSkew:
		return Stale, "measured in the future for"
	}
	return "", ""
}

// problemGroups merges problems that several nodes or pods share.
type problemGroups struct {
	single []Problem
	groups map[problemKey]*nameTally
}

type problemKey struct {
	kind ProblemKind
	what string
}

// nameTally counts names and keeps the first ones in alphabetical order.
type nameTally struct {
	count int
	first []string
}

const (
	maxNames  = 5
	maxName   = 80
	maxDetail = 400
)

func (f *problemGroups) add(kind ProblemKind, what, name string) {
	if f.groups == nil {
		f.groups = map[problemKey]*nameTally{}
	}
	t := f.groups[problemKey{kind, what}]
	if t == nil {
		t = &nameTally{}
		f.groups[problemKey{kind, what}] = t
	}
	t.count++
	if len(t.first) == maxNames && name >= t.first[maxNames-1] {
		return
	}
	at, _ := slices.BinarySearch(t.first, name)
	t.first = slices.Insert(t.first, at, strings.Clone(name))
	if len(t.first) > maxNames {
		t.first = t.first[:maxNames]
	}
}

func (f *problemGroups) problems() []Problem {
	out := slices.Clone(f.single)
	for k, t := range f.groups {
		names := make([]string, 0, maxNames)
		for _, n := range t.first {
			names = append(names, sanitize(n, maxName))
		}
		detail := k.what + " " + strings.Join(names, ", ")
		if more := t.count - len(names); more > 0 {
			detail += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, Problem{Kind: k.kind, Detail: detail})
	}
	slices.SortFunc(out, func(a, b Problem) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return strings.Compare(a.Detail, b.Detail)
	})
	return slices.Compact(out)
}

// userinfo is the user and password in a URL.
var userinfo = regexp.MustCompile(`//[^/@\s]*@`)

// sanitize makes one line of at most max characters from external text. It removes passwords in
// URLs.
func sanitize(text string, most int) string {
	if text == "" {
		return `""`
	}
	if strings.Contains(text, "//") {
		text = userinfo.ReplaceAllString(text, "//")
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
