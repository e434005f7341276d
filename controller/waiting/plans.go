// Package waiting keeps the plans that wait until a person approves them.
//
// It decides when a proposal replaces a waiting plan, when a waiting plan is announced, and which steps are approved or
// discarded together. It never decides whether a move is still valid, and never evicts.
package waiting

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// maxMarks bounds the announced moves. The oldest are dropped first.
	maxMarks = plan.MaxDiscarded
	// maxForeignWait is how long a plan waits at most that the release did not make.
	maxForeignWait = 24 * time.Hour
)

// ErrTooLarge means that a plan does not fit into an object.
var ErrTooLarge = errors.New("the plan is too large to wait for approval")

// Plans are the open plans: a decision about them can still have an effect. Those of this release differ in their
// strategies, because a new proposal replaces the waiting steps of all its strategies.
type Plans struct {
	// Waiting have steps that wait for a decision, for their execution, or are executed.
	Waiting []Plan
	// Marked have discarded steps whose moves are not proposed again yet, or dropped ones that may be approved again,
	// and none that wait.
	Marked []Plan
	// Closed are the plans that the last change has closed.
	Closed []Plan
	// Announced are the moves that were announced. They are not announced again before their time.
	Announced []Mark
}

// Plan is a stored plan. Its moves have the numbers of the proposal.
type Plan struct {
	plan.Plan
	// Name is that of the RebalancePlan.
	Name  string
	Since time.Time
	// Foreign reports that the release did not make the plan. No proposal replaces it.
	Foreign bool
	// Decisions are about the steps that do not wait any more, sorted by step.
	Decisions []Decision

	phase      v1alpha1.Phase
	why        string // it does not wait any more
	closed     bool
	generation int64                       // of the decision that Decisions take into account
	object     *v1alpha1.RebalancePlan     // as it was read; nil for a new plan
	spec       *v1alpha1.RebalancePlanSpec // of a new plan
	owner      string                      // of a new plan: the UID of the Rebalancer
}

// State is the state of a step.
type State string

const (
	Waiting  State = "waiting"
	Approved State = "approved"
	// Executed: the pod was evicted after the approval, or may have been.
	Executed  State = "executed"
	Discarded State = "discarded"
	// Dropped: the step was approved, and its pod was not evicted. It may be approved again.
	Dropped State = "dropped"
	// Gone: the step was approved, and its pod was gone before.
	Gone State = "gone"
	// Replaced: a newer proposal has other moves for the strategy.
	Replaced State = "replaced"
)

// Decision says why a step does not wait any more.
type Decision struct {
	Step  int
	State State
	By    string
	At    time.Time
}

// String returns the state, and the person who decided.
func (d Decision) String() string {
	if d.By == "" {
		return string(d.State)
	}
	return string(d.State) + " by " + d.By
}

// count returns the number of steps in a state.
func (w *Plan) count(s State) (n int) {
	for _, d := range w.Decisions {
		if d.State == s {
			n++
		}
	}
	return n
}

// isDecided reports whether no step waits, for a decision or for its execution.
func (w *Plan) isDecided() bool {
	return len(w.Decisions)-w.count(Approved) >= len(w.Moves)
}

func (w *Plan) isRunning() bool { return w.phase == v1alpha1.PhaseRunning }

// isEnded reports whether no step of the plan can wait again.
func (w *Plan) isEnded() bool {
	return slices.Contains([]v1alpha1.Phase{v1alpha1.PhaseReplaced, v1alpha1.PhaseExpired, v1alpha1.PhaseRefused}, w.phase)
}

// Expire ends the plans whose time is over or whose steps are all decided, closes those whose discarded moves may be
// proposed again, and forgets old marks. The caller may change the result; p stays as it is.
func (p Plans) Expire(now time.Time) Plans {
	p = p.clone()
	p.Announced = slices.DeleteFunc(p.Announced, func(m Mark) bool { return !now.Before(m.Until) })
	return p.end(now, func(w *Plan) (v1alpha1.Phase, string) {
		last := w.last()
		switch {
		case w.isDecided() && w.count(Executed)+w.count(Dropped)+w.count(Gone) > 0:
			return v1alpha1.PhaseCompleted, "all its steps were decided: " + w.describeStates()
		case w.isDecided() && w.count(Discarded) > 0:
			return v1alpha1.PhaseDiscarded, "all its steps were decided: " + w.describeStates()
		case w.isDecided():
			return v1alpha1.PhaseReplaced, "all its steps were replaced by newer plans"
		case !now.Before(last):
			return v1alpha1.PhaseExpired, "it expired at " + last.UTC().Format(time.RFC3339)
		}
		return "", ""
	})
}

// last returns when the plan expires.
func (w *Plan) last() time.Time {
	if limit := w.Since.Add(maxForeignWait); w.Foreign && limit.Before(w.Expires) {
		return limit
	}
	return w.Expires
}

func (p Plans) clone() Plans {
	p.Announced, p.Closed = slices.Clone(p.Announced), slices.Clone(p.Closed)
	for _, list := range []*[]Plan{&p.Waiting, &p.Marked} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Decisions = slices.Clone((*list)[i].Decisions)
		}
	}
	return p
}

// end moves the waiting plans for which why returns a phase to the marked ones, and closes those without marks. A plan
// that is executed stays.
func (p Plans) end(now time.Time, why func(w *Plan) (v1alpha1.Phase, string)) Plans {
	var waiting, marked []Plan
	for _, w := range p.Waiting {
		phase, reason := why(&w)
		if phase == "" || w.isRunning() {
			waiting = append(waiting, w)
			continue
		}
		w.phase, w.why = phase, reason
		p.Marked = append(p.Marked, w)
	}
	for _, w := range p.Marked {
		dropped := w.count(Dropped) > 0 && !w.isEnded() && now.Before(w.last()) // they may be approved again
		if w.closed = !dropped && !slices.ContainsFunc(w.discarded(), func(d plan.DiscardedMove) bool { return now.Before(d.Until) }); w.closed {
			p.Closed = append(p.Closed, w)
		} else {
			marked = append(marked, w)
		}
	}
	p.Waiting, p.Marked = waiting, marked
	return p
}

// Discarded returns the moves that persons discarded. Their strategies do not propose them again yet.
func (p Plans) Discarded() (out []plan.DiscardedMove) {
	for _, list := range [][]Plan{p.Waiting, p.Marked} {
		for i := range list {
			out = append(out, list[i].discarded()...)
		}
	}
	slices.SortStableFunc(out, func(a, b plan.DiscardedMove) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Plan, b.Plan), cmp.Compare(a.Step, b.Step))
	})
	return lastOf(out, plan.MaxDiscarded)
}

func (w *Plan) discarded() (out []plan.DiscardedMove) {
	for _, m := range w.Moves {
		if d := w.StateOf(m.Step); d.State == Discarded {
			out = append(out, plan.DiscardedMove{Strategy: m.Strategy, PodUID: m.Pod.UID, Pod: m.Pod.String(), Plan: w.Name, Step: m.Step, By: d.By,
				At: d.At, Until: d.At.Add(w.last().Sub(w.Since))})
		}
	}
	return out
}

// StateOf returns the state of a step, and who decided it.
func (w *Plan) StateOf(step int) Decision {
	if i, found := slices.BinarySearchFunc(w.Decisions, step, func(d Decision, s int) int { return cmp.Compare(d.Step, s) }); found {
		return w.Decisions[i]
	}
	return Decision{Step: step, State: Waiting}
}

// decide records the same decision for some steps.
func (w *Plan) decide(steps []int, d Decision) {
	for _, step := range steps {
		d.Step = step
		i, found := slices.BinarySearchFunc(w.Decisions, step, func(d Decision, s int) int { return cmp.Compare(d.Step, s) })
		if found {
			w.Decisions[i] = d
		} else {
			w.Decisions = slices.Insert(w.Decisions, i, d)
		}
	}
}

// WaitingMoves returns the moves that still wait.
func (w *Plan) WaitingMoves() (moves []plan.Move) {
	for _, m := range w.Moves {
		if w.StateOf(m.Step).State == Waiting {
			moves = append(moves, m)
		}
	}
	return moves
}

// Summary returns what a report says about the plan.
func (w *Plan) Summary() plan.WaitingPlan {
	s := plan.WaitingPlan{ID: w.Name, Since: w.Since, Expires: w.Expires, Strategies: map[string]int{}}
	for _, m := range w.WaitingMoves() {
		s.Strategies[m.Strategy]++
	}
	return s
}
