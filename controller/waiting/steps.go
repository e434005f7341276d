package waiting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
}

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

// Find returns the plan whose ID begins with prefix. The ID of a proposal with the same moves finds it too.
func (p *Plans) Find(prefix string) (*Plan, error) {
	var found []string
	var last *Plan
	for i := range p.Waiting {
		if slices.ContainsFunc(append([]string{p.Waiting[i].ID}, p.Waiting[i].Proposals...),
			func(id string) bool { return strings.HasPrefix(id, prefix) }) {
			last, found = &p.Waiting[i], append(found, p.Waiting[i].ID)
		}
	}
	switch {
	case len(found) == 1:
		return last, nil
	case len(found) > 1:
		return nil, rejectf("the IDs of several waiting plans begin with %q: %s", shorten(prefix), strings.Join(found, ", "))
	}
	for i := len(p.Ended) - 1; i >= 0; i-- {
		if e := p.Ended[i]; strings.HasPrefix(e.ID, prefix) {
			return nil, rejectf("plan %s does not wait any more: %s", e.ID, e.Why)
		}
	}
	return nil, rejectf("no waiting plan has an ID that begins with %q%s", shorten(prefix), p.candidates())
}

func (p *Plans) candidates() string {
	if len(p.Waiting) == 0 {
		return "; no plan waits for approval"
	}
	var ids []string
	for _, w := range p.Waiting {
		ids = append(ids, w.ID)
	}
	return fmt.Sprintf(" (%s: %s)", plural.Choose(len(ids), "the waiting plan", "the waiting plans"), strings.Join(ids, ", "))
}

// Choose returns the chosen steps in order, with the steps that they need, and the latter also apart. A step that was
// approved or discarded before can be chosen only by its number, and only if again is true.
func (w *Plan) Choose(c StepSelection, again bool) (steps, needed []int, err error) {
	if c.Strategy != "" && !slices.ContainsFunc(w.Moves, func(m plan.Move) bool { return m.Strategy == c.Strategy }) {
		return nil, nil, rejectf("plan %s has no move of strategy %q", w.ID, shorten(c.Strategy))
	}
	if steps, err = w.chooseNumbers(c, again); err != nil {
		return nil, nil, err
	}
	if len(steps) == 0 {
		return nil, nil, rejectf("no step of the choice still waits in plan %s: %s%s", w.ID, w.describeStates(), w.repeatApproval(again))
	}
	all, needed := w.withPairs(steps)
	for _, step := range needed {
		if d := w.StateOf(step); d.State == Replaced || d.State == Executed || d.State == Approved && !again {
			return nil, nil, rejectf("step %d, which the chosen steps need, %s", step, d.text())
		}
	}
	return all, needed, nil
}

// repeatApproval says how to approve steps again whose execution was dropped.
func (w *Plan) repeatApproval(again bool) string {
	var approved []int
	for _, m := range w.Moves {
		if w.StateOf(m.Step).State == Approved {
			approved = append(approved, m.Step)
		}
	}
	if !again || len(approved) == 0 {
		return ""
	}
	return fmt.Sprintf("; if the execution of approved steps was dropped, approve them again by their numbers: --steps %s", FormatSteps(approved))
}

func (w *Plan) chooseNumbers(c StepSelection, again bool) (steps []int, err error) {
	for _, r := range c.Steps {
		if r.Last > len(w.Moves) {
			return nil, rejectf("plan %s has no step %d (want 1 to %d)", w.ID, r.Last, len(w.Moves))
		}
	}
	for _, m := range w.Moves {
		named := len(c.Steps) > 0 && c.names(m.Step)
		d := w.StateOf(m.Step)
		switch {
		case len(c.Steps) > 0 && !named, len(c.Steps) == 0 && c.Strategy != "" && m.Strategy != c.Strategy:
		case c.Strategy != "" && m.Strategy != c.Strategy:
			return nil, rejectf("step %d belongs to strategy %s, not to %s", m.Step, m.Strategy, c.Strategy)
		case d.State == Waiting, named && again && d.State != Replaced && d.State != Executed:
			steps = append(steps, m.Step)
		case named:
			return nil, rejectf("step %d does not wait: it %s", m.Step, d.text())
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
	for _, s := range []State{Waiting, Approved, Executed, Discarded, Replaced} {
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

// Part returns the plan with only some of its steps, which keep their numbers. The result has its own ID.
func (w *Plan) Part(steps []int) plan.Plan {
	p := w.Plan
	p.Moves, p.Hints = w.movesOf(steps), nil
	waves := map[int]bool{}
	for _, m := range p.Moves {
		waves[m.Wave] = true
	}
	for _, h := range w.Hints {
		if waves[h.Wave] {
			p.Hints = append(p.Hints, h)
		}
	}
	p.ID = plan.ContentID(p)
	return p
}

// Approve returns the plans with the steps of part marked as approved. Steps that a person
// discarded after the approval stay discarded. Approved steps that were discarded before may be
// moved again. Approve returns a Rejection if part does not belong to a plan that waits, if a step
// was executed or approved again since, or if all its steps were discarded since. To repeat an
// approval changes nothing.
func (p Plans) Approve(part plan.Plan, by plan.Approval, now time.Time) (Plans, error) {
	p = p.Expire(now)
	i := slices.IndexFunc(p.Waiting, func(w Plan) bool { return w.ID == by.WaitingPlan })
	if i < 0 {
		if _, err := p.Find(by.WaitingPlan); err != nil {
			return p, err
		}
		return p, rejectf("no waiting plan has the ID %s", shorten(by.WaitingPlan))
	}
	w := &p.Waiting[i]
	var all, approved []int
	executed := false
	for _, m := range part.Moves {
		d := w.StateOf(m.Step)
		since := d.State != Waiting && !d.At.Before(by.At)
		same := (d.State == Approved || d.State == Executed) && d.By == by.By && d.At.Equal(by.At)
		if d.State == Replaced || d.State == Executed && !same || since && d.State != Discarded && !same {
			return p, rejectf("step %d of plan %s %s", m.Step, w.ID, d.text())
		}
		all, executed = append(all, m.Step), executed || d.State == Executed
		if d.State != Executed && (!since || same) {
			approved = append(approved, m.Step)
		}
	}
	if plan.ContentID(w.Plan) != w.ID {
		return p, rejectf("the waiting plan %s has been changed: its content does not match its ID", w.ID)
	}
	if w.Part(all).ID != part.ID || plan.ContentID(part) != part.ID {
		return p, rejectf("the approved moves are not steps of plan %s", w.ID)
	}
	if len(approved) == 0 && !executed {
		return p, rejectf("all approved steps of plan %s were discarded: step %d %s", w.ID, all[0], w.StateOf(all[0]).text())
	}
	w.decide(approved, Decision{State: Approved, By: by.By, At: by.At.UTC()})
	p.forgetDiscards(w.movesOf(approved))
	return p, nil
}
