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

// Unit is what a number of a source counts.
type Unit int

// Units. What becomes of them in a Reading is cpu in milliCPU, bytes in bytes, and
// anything else in millionths.
const (
	Cores    Unit = iota // of cpu
	Bytes                // of memory
	Share                // 0..1 of the node's capacity, of cpu or memory: kept as an amount
	Fraction             // 0..1 of whatever the query asks about
	Number               // anything, in the unit of whoever asks
)

const (
	// maxPlausibleFrac is how far above its whole a node may be and still be believed. A
	// share of capacity should not exceed 1, but rates are extrapolated to the ends
	// of their window (a counter scraped every 60 s and asked for over 2 min can
	// come out a few percent high), and CPU is accounted in other ticks than it is
	// measured in. A fifth above is generous for both.
	maxPlausibleFrac = 1.25
	// minPercent and percentMost: a share between them can only be a percentage.
	// Then the other nodes' are percentages, too, and 0.9 % must not pass for 90 %:
	// nothing in that answer can be used. Beyond percentMost it is neither, and says
	// nothing about other nodes.
	minPercent = 2
	maxPercent = 100 * maxPlausibleFrac
	// negativeTolerance is what subtracting two equal sums can leave.
	negativeTolerance = -1e-6
	// maxAmount keeps amounts of nodes of unknown capacity, and numbers, within 63
	// bits: in millionths they reach 9.2e12, some 8 TiB in bytes.
	maxAmount = 9.2e12
)

func (u Unit) isRatio() bool { return u == Share || u == Fraction }

// maxPlausible is what can be believed of a node of that capacity, in milliCPU or bytes.
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

// check says why a value cannot be used; an empty kind means that it can.
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

// amount is a value that was not doubted, in the units of a Reading.
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

// rejectPercentages tells whether an answer is in percent, and says so.
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

// checkAge says why a time of measurement is of no use.
func (g *SampleBuilder) checkAge(at time.Time) (ProblemKind, string) {
	switch age := g.now.Sub(at); {
	case age > g.maxAge:
		return Stale, fmt.Sprintf("measured more than %s ago for", g.maxAge)
	case age < -cluster.MaxClockSkew:
		return Stale, "measured in the future for"
	}
	return "", ""
}

// problemGroups group what is wrong, for a problem that many have is one problem.
type problemGroups struct {
	single []Problem
	groups map[problemKey]*nameTally
}

type problemKey struct {
	kind ProblemKind
	what string
}

// nameTally counts names, and keeps those that come first in order of the alphabet,
// whatever order they came in.
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

// userinfo is what stands before the host of an address.
var userinfo = regexp.MustCompile(`//[^/@\s]*@`)

// sanitize makes one line of text from outside, of at most so many characters, and
// leaves out passwords in addresses.
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
