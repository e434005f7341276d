// Package waiting keeps the plans that wait until a person approves them.
//
// It decides when a proposal replaces a waiting plan, when a waiting plan is announced, and which steps are approved or
// discarded together. It never decides whether a move is still valid, and never evicts.
package waiting

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Bounds of the lists in Plans. The oldest entries are dropped first.
const (
	maxEnded     = 20
	maxProposals = 20
	maxMarks     = plan.MaxDiscarded
)

// kind is the kind of Plans as a document.
const kind = "WaitingPlans"

// Plans are the plans that wait for approval, and what is known about earlier ones. The plans differ in their
// strategies, because a new proposal replaces the waiting steps of all its strategies.
type Plans struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Waiting    []Plan `json:"waiting"`
	// Ended says why earlier plans no longer wait.
	Ended []Ended `json:"ended,omitempty"`
	// Discarded are the moves that a person discarded. Their strategies do not propose them again before their time.
	Discarded []plan.DiscardedMove `json:"discarded,omitempty"`
	// Announced are the moves that were announced. They are not announced again before their time.
	Announced []Mark `json:"announced,omitempty"`
}

// Plan is a plan that waits. Its moves have the numbers of the proposal.
type Plan struct {
	plan.Plan `json:"plan"`
	Since     time.Time `json:"since"`
	// Proposals are the IDs of the latest proposals with these moves, as the reports of passes name them.
	Proposals []string `json:"proposals,omitempty"`
	// Decisions are about the steps that do not wait any more, sorted by step.
	Decisions []Decision `json:"decisions,omitempty"`
}

// State is the state of a step.
type State string

const (
	Waiting  State = "waiting"
	Approved State = "approved"
	// Executed: the pod was evicted after the approval, or may have been.
	Executed  State = "executed"
	Discarded State = "discarded"
	// Replaced: a newer proposal has other moves for the strategy.
	Replaced State = "replaced"
)

// Decision says why a step does not wait any more.
type Decision struct {
	Step  int       `json:"step"`
	State State     `json:"state"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
}

// String returns the state, and the person who decided.
func (d Decision) String() string {
	if d.By == "" {
		return string(d.State)
	}
	return string(d.State) + " by " + d.By
}

// Ended is a plan that does not wait any more.
type Ended struct {
	ID  string    `json:"id"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// Mark remembers the move of a pod by a strategy until a time.
type Mark struct {
	Strategy string    `json:"strategy"`
	PodUID   string    `json:"podUID"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
	Until    time.Time `json:"until"`
}

// Proposal is the result of a pass for the strategies whose moves wait for approval.
type Proposal struct {
	// Plan is nil if no strategy in mode Approve was due and stated a goal.
	Plan *plan.Plan
	// Strategies are the names of the strategies in mode Approve that were due and stated a goal.
	// The plans of others stay.
	Strategies []string
	ConfigHash string
	Now        time.Time
	ValidFor   time.Duration
}

// moveKey identifies a move: a pod never changes its node.
type moveKey struct{ strategy, podUID string }

func keyOf(m plan.Move) moveKey { return moveKey{m.Strategy, m.Pod.UID} }

// Keep returns the plans after a pass, and the plan to announce, or nil. The proposal replaces the
// waiting steps of its strategies only if its moves differ from them. Moves that a person discarded
// do not count. A plan is announced only if it has a move that was not announced before.
func (p Plans) Keep(n Proposal) (Plans, *Plan) {
	p = p.Expire(n.Now).endUseless(n)
	if len(n.Strategies) == 0 {
		return p, nil
	}
	var next Plan
	if n.Plan != nil && len(n.Plan.Moves) > 0 {
		next = newPlan(n, p.Discarded)
	}
	fresh := map[moveKey]bool{}
	for _, m := range next.WaitingMoves() {
		fresh[keyOf(m)] = true
	}
	if maps.Equal(fresh, p.waitingMoves(n.Strategies)) {
		return p.nameProposal(n), nil
	}
	p = p.replaceSteps(n, next.ID, len(fresh) == 0)
	if len(fresh) == 0 {
		return p, nil
	}
	p.Waiting = append(p.Waiting, next)
	if p.announce(next, n) {
		return p, &next
	}
	return p, nil
}

// nameProposal remembers the ID of a proposal whose moves wait already.
func (p Plans) nameProposal(n Proposal) Plans {
	if n.Plan == nil {
		return p
	}
	for i := range p.Waiting {
		w := &p.Waiting[i]
		ours := slices.ContainsFunc(w.WaitingMoves(), func(m plan.Move) bool { return slices.Contains(n.Strategies, m.Strategy) })
		if ours && !slices.Contains(w.Proposals, n.Plan.ID) {
			w.Proposals = lastOf(append(slices.Clone(w.Proposals), n.Plan.ID), maxProposals)
		}
	}
	return p
}

// newPlan returns the plan that will wait. It has only what its execution needs, so that large plans fit into a
// ConfigMap. Discarded moves, and those that are useless without them, do not wait.
func newPlan(n Proposal, discarded []plan.DiscardedMove) Plan {
	o := n.Plan
	kept := plan.Plan{APIVersion: o.APIVersion, Kind: o.Kind, TakenAt: o.TakenAt, TakenAtEstimated: o.TakenAtEstimated,
		Expires: n.Now.UTC().Add(n.ValidFor), Cluster: o.Cluster, ConfigHash: o.ConfigHash}
	kept.Moves, kept.Hints = renumber(o.Moves, o.Hints)
	for i := range o.Goals { // a node is emptied as a whole, and then kept empty
		if g := o.Goals[i]; g.Kind == plan.NodeEmpty && o.After.Excess[g.ID] == 0 {
			kept.Goals = append(kept.Goals, g)
		}
	}
	kept.ID = plan.ContentID(kept)
	next, marks := Plan{Plan: kept, Since: n.Now.UTC(), Proposals: []string{o.ID}}, map[moveKey]plan.DiscardedMove{}
	for _, d := range discarded {
		marks[moveKey{d.Strategy, d.PodUID}] = d
	}
	for _, m := range kept.Moves {
		if mark, found := marks[keyOf(m)]; found {
			steps, _ := next.withPairs([]int{m.Step})
			next.decide(steps, Decision{State: Discarded, By: mark.By, At: mark.At})
		}
	}
	return next
}

// renumber returns the moves and hints with steps and waves that begin at 1 and have no gaps.
func renumber(moves []plan.Move, hints []plan.WaveHints) ([]plan.Move, []plan.WaveHints) {
	moves, hints = slices.Clone(moves), slices.Clone(hints)
	waves := map[int]int{}
	for i := range moves {
		m := &moves[i]
		if waves[m.Wave] == 0 {
			waves[m.Wave] = len(waves) + 1
		}
		m.Step, m.Wave = i+1, waves[m.Wave]
	}
	hints = slices.DeleteFunc(hints, func(h plan.WaveHints) bool { return waves[h.Wave] == 0 })
	for i := range hints {
		hints[i].Wave = waves[hints[i].Wave]
	}
	return moves, hints
}

// announce reports whether the plan has a move that was not announced yet, and remembers all its waiting moves.
func (p *Plans) announce(next Plan, n Proposal) bool {
	known, before := map[moveKey]bool{}, len(p.Announced)
	for _, m := range p.Announced {
		known[moveKey{m.Strategy, m.PodUID}] = true
	}
	for _, m := range next.WaitingMoves() {
		if !known[keyOf(m)] {
			p.Announced = append(p.Announced, Mark{Strategy: m.Strategy, PodUID: m.Pod.UID, At: n.Now.UTC(),
				Until: n.Now.UTC().Add(n.ValidFor)})
		}
	}
	unknown := len(p.Announced) > before
	p.Announced = lastOf(p.Announced, maxMarks)
	return unknown
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// waitingMoves returns the moves of the strategies that wait in any plan.
func (p Plans) waitingMoves(strategies []string) map[moveKey]bool {
	out := map[moveKey]bool{}
	for i := range p.Waiting {
		for _, m := range p.Waiting[i].WaitingMoves() {
			if slices.Contains(strategies, m.Strategy) {
				out[keyOf(m)] = true
			}
		}
	}
	return out
}

// replaceSteps ends the waiting steps of the strategies of a proposal. Plans without waiting steps end.
func (p Plans) replaceSteps(n Proposal, newID string, empty bool) Plans {
	why := "plan " + newID + " replaced it"
	if empty {
		why = "a later pass found nothing left to move for it"
	}
	for i := range p.Waiting {
		w := &p.Waiting[i]
		var steps []int
		for _, m := range w.WaitingMoves() {
			if slices.Contains(n.Strategies, m.Strategy) {
				steps = append(steps, m.Step)
			}
		}
		steps, _ = w.withPairs(steps)
		w.decide(steps, Decision{State: Replaced, At: n.Now.UTC()})
	}
	return p.end(n.Now, func(w *Plan) string {
		if len(w.WaitingMoves()) == 0 {
			return why
		}
		return ""
	})
}

// endUseless ends the plans of other configurations, because they can never be executed, and those
// without waiting steps.
func (p Plans) endUseless(n Proposal) Plans {
	return p.end(n.Now, func(w *Plan) string {
		switch {
		case w.ConfigHash != n.ConfigHash:
			return "the configuration has changed since it was made"
		case len(w.WaitingMoves()) == 0:
			return "all its steps were decided: " + w.describeStates()
		}
		return ""
	})
}

// Expire ends the plans whose time is over, and forgets old marks. The caller may change the result; p stays as it is.
func (p Plans) Expire(now time.Time) Plans {
	p.Discarded = slices.DeleteFunc(slices.Clone(p.Discarded), func(d plan.DiscardedMove) bool { return !now.Before(d.Until) })
	p.Announced = slices.DeleteFunc(slices.Clone(p.Announced), func(m Mark) bool { return !now.Before(m.Until) })
	p.Ended, p.Waiting = slices.Clone(p.Ended), slices.Clone(p.Waiting)
	for i := range p.Waiting {
		p.Waiting[i].Decisions = slices.Clone(p.Waiting[i].Decisions)
	}
	return p.end(now, func(w *Plan) string {
		if !now.Before(w.Expires) {
			return "it expired at " + w.Expires.UTC().Format(time.RFC3339)
		}
		return ""
	})
}

// end removes the plans for which why returns a reason.
func (p Plans) end(now time.Time, why func(w *Plan) string) Plans {
	var left []Plan
	for i := range p.Waiting {
		if reason := why(&p.Waiting[i]); reason != "" {
			p.Ended = append(p.Ended, Ended{ID: p.Waiting[i].ID, Why: reason, At: now.UTC()})
		} else {
			left = append(left, p.Waiting[i])
		}
	}
	p.Waiting, p.Ended = left, lastOf(p.Ended, maxEnded)
	return p
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
	s := plan.WaitingPlan{ID: w.ID, Since: w.Since, Expires: w.Expires, Strategies: map[string]int{}}
	for _, m := range w.WaitingMoves() {
		s.Strategies[m.Strategy]++
	}
	return s
}
