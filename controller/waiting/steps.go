package waiting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Rejection says why steps of a plan cannot be approved or discarded. The caller must not try again.
type Rejection struct{ message string }

// Error implements error.
func (r Rejection) Error() string { return r.message }

func rejectf(format string, args ...any) error { return Rejection{fmt.Sprintf(format, args...)} }

// StepSelection selects steps of a plan. Without a strategy and without steps it selects all steps that wait.
type StepSelection struct {
	Strategy string
	Steps    []Range
	// Seen is the plan as the person saw it. A decision about a plan that has changed since is rejected.
	Seen Version
}

// Version is one version of a stored plan. The zero value is any.
type Version struct {
	UID             types.UID
	ResourceVersion string
}

// VersionOf returns the version of a stored plan.
func VersionOf(o *v1alpha1.RebalancePlan) Version { return Version{o.UID, o.ResourceVersion} }

// Range is a range of steps, both included.
type Range struct{ First, Last int }

// Bounds of the text that ParseSteps accepts.
const (
	maxRanges = 1000
	maxStep   = 1_000_000
)

// ParseSteps parses a list such as 1,4-7.
func ParseSteps(text string) (out []Range, err error) {
	for _, part := range strings.SplitN(text, ",", maxRanges+1) {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, errFirst := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		if errFirst != nil || errLast != nil || first < 1 || last < first || last > maxStep {
			return nil, fmt.Errorf("%q is not a step or a range of steps (want for example 1,4-7)", shorten(part))
		}
		out = append(out, Range{first, last})
	}
	if len(out) > maxRanges {
		return nil, fmt.Errorf("more than %d steps and ranges", maxRanges)
	}
	return out, nil
}

// FormatSteps writes sorted steps as ParseSteps reads them.
func FormatSteps(steps []int) string {
	var parts []string
	for i := 0; i < len(steps); {
		j := i
		for j+1 < len(steps) && steps[j+1] == steps[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(steps[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", steps[i], steps[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// maxShownText bounds the part of a text, in bytes, that an error repeats.
const maxShownText = 60

func shorten(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxShownText)], "") }

// Find returns the plan whose name or ID begins with prefix.
func (p *Plans) Find(prefix string) (*Plan, error) {
	var found []*Plan
	var names []string
	for _, list := range [][]Plan{p.Waiting, p.Marked} {
		for i := range list {
			if w := &list[i]; strings.HasPrefix(w.Name, prefix) || strings.HasPrefix(w.ID, prefix) {
				found, names = append(found, w), append(names, w.Name)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, rejectf("the names or IDs of several plans begin with %q: %s", shorten(prefix), strings.Join(names, ", "))
	}
	return nil, rejectf("no waiting plan has a name or an ID that begins with %q%s", shorten(prefix), p.candidates())
}

func (p *Plans) candidates() string {
	if len(p.Waiting) == 0 {
		return "; no plan waits for approval"
	}
	var names []string
	for _, w := range p.Waiting {
		names = append(names, w.Name)
	}
	return fmt.Sprintf(" (%s: %s)", plural.Choose(len(names), "the waiting plan", "the waiting plans"), strings.Join(names, ", "))
}

// Choose returns the chosen steps in order, with the steps that they need, and the latter also apart. A step that was
// decided before can be chosen only by its number.
func (w *Plan) Choose(c StepSelection, verb Verb) (steps, needed []int, err error) {
	if c.Strategy != "" && !slices.ContainsFunc(w.Moves, func(m plan.Move) bool { return m.Strategy == c.Strategy }) {
		return nil, nil, rejectf("plan %s has no move of strategy %q", w.Name, shorten(c.Strategy))
	}
	if steps, err = w.chooseNumbers(c, verb); err != nil {
		return nil, nil, err
	}
	if len(steps) == 0 {
		return nil, nil, rejectf("plan %s has no step to %s in the choice: %s", w.Name, verb, w.describeStates())
	}
	all, needed := w.withPairs(steps)
	for _, step := range needed {
		if d := w.StateOf(step); d.State == Replaced || d.State == Executed || d.State == Gone {
			return nil, nil, rejectf("step %d, which the chosen steps need, %s", step, d.text())
		}
	}
	return all, needed, nil
}

func (w *Plan) chooseNumbers(c StepSelection, verb Verb) (steps []int, err error) {
	for _, r := range c.Steps {
		if r.Last > len(w.Moves) {
			return nil, rejectf("plan %s has no step %d (want 1 to %d)", w.Name, r.Last, len(w.Moves))
		}
	}
	for _, m := range w.Moves {
		named := len(c.Steps) > 0 && c.names(m.Step)
		d := w.StateOf(m.Step)
		switch {
		case len(c.Steps) > 0 && !named, len(c.Steps) == 0 && c.Strategy != "" && m.Strategy != c.Strategy:
		case c.Strategy != "" && m.Strategy != c.Strategy:
			return nil, rejectf("step %d belongs to strategy %s, not to %s", m.Step, m.Strategy, c.Strategy)
		case verb == ToUndo && (d.State == Discarded || named && d.State == Approved), verb != ToUndo && d.State == Waiting,
			verb == ToApprove && named && (d.State == Approved || d.State == Dropped || d.State == Discarded),
			verb == ToDiscard && named && (d.State == Approved || d.State == Dropped):
			steps = append(steps, m.Step)
		case named:
			return nil, rejectf("step %d cannot be chosen: it %s", m.Step, d.text())
		}
	}
	return steps, nil
}

func (d Decision) text() string {
	switch d.State {
	case Replaced:
		return "was replaced by a newer plan at " + d.At.UTC().Format(time.RFC3339)
	case Waiting:
		return "waits"
	case Gone:
		return "is about a pod that is gone"
	case Executed:
		return fmt.Sprintf("was executed after %s approved it at %s", d.By, d.At.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("was %s by %s at %s", d.State, d.By, d.At.UTC().Format(time.RFC3339))
}

// describeStates counts the steps by state.
func (w *Plan) describeStates() string {
	counts := map[State]int{}
	for _, m := range w.Moves {
		counts[w.StateOf(m.Step).State]++
	}
	var parts []string
	for _, s := range []State{Waiting, Approved, Executed, Dropped, Gone, Discarded, Replaced} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// withPairs adds the steps that must be executed together with the given ones. A displaced move and the move for which
// it makes room belong together, and so do all moves that empty a node. withPairs returns all steps in order, and the
// added steps separately.
func (w *Plan) withPairs(steps []int) (all, added []int) {
	if len(steps) == 0 {
		return nil, nil
	}
	return closure(steps, w.partners())
}

// Units returns the steps in groups that are decided together, in the order of the first step of each.
func (w *Plan) Units() (out [][]int) {
	partners, seen := w.partners(), map[int]bool{}
	for _, m := range w.Moves {
		if seen[m.Step] {
			continue
		}
		unit, _ := closure([]int{m.Step}, partners)
		for _, step := range unit {
			seen[step] = true
		}
		out = append(out, unit)
	}
	return out
}

// partners returns, for each step, steps that must be executed together with it.
func (w *Plan) partners() map[int][]int {
	partners, stepOf := map[int][]int{}, map[string]int{}
	for _, m := range w.Moves {
		stepOf[m.Pod.UID] = m.Step
	}
	for _, q := range w.Moves {
		if q.DisplacedFor == nil {
			continue
		}
		if step, found := stepOf[q.DisplacedFor.UID]; found {
			partners[q.Step], partners[step] = append(partners[q.Step], step), append(partners[step], q.Step)
		}
	}
	for i := range w.Goals { // of the kind NodeEmpty
		first := 0
		for _, m := range w.Moves {
			switch {
			case !slices.Contains(m.Goals, w.Goals[i].ID):
			case first == 0:
				first = m.Step
			default:
				partners[first], partners[m.Step] = append(partners[first], m.Step), append(partners[m.Step], first)
			}
		}
	}
	return partners
}

// closure adds to steps the steps that belong to them, directly or not.
func closure(steps []int, partners map[int][]int) (all, added []int) {
	chosen := setOf(steps)
	for open := slices.Clone(steps); len(open) > 0; open = open[1:] {
		for _, step := range partners[open[0]] {
			if !chosen[step] {
				chosen[step], open, added = true, append(open, step), append(added, step)
			}
		}
	}
	slices.Sort(added)
	return slices.Sorted(maps.Keys(chosen)), added
}

func setOf(steps []int) map[int]bool {
	out := map[int]bool{}
	for _, s := range steps {
		out[s] = true
	}
	return out
}

// part returns the plan with only some of its steps, which keep their numbers.
func (w *Plan) part(steps []int) plan.Plan {
	p, chosen, waves := w.Plan, setOf(steps), map[int]bool{}
	p.Moves = slices.DeleteFunc(slices.Clone(p.Moves), func(m plan.Move) bool { return !chosen[m.Step] })
	for _, m := range p.Moves {
		waves[m.Wave] = true
	}
	p.Hints = slices.DeleteFunc(slices.Clone(p.Hints), func(h plan.WaveHints) bool { return !waves[h.Wave] })
	return p
}

// names reports whether the choice has the step, or no steps at all.
func (c StepSelection) names(step int) bool {
	return len(c.Steps) == 0 || slices.ContainsFunc(c.Steps, func(r Range) bool { return r.First <= step && step <= r.Last })
}
