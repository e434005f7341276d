package waiting

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// Mark remembers the move of a pod by a strategy until a time.
type Mark struct {
	Strategy, PodUID string
	Until            time.Time
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
	// Name is that of the object for the plan, and Owner the UID of the Rebalancer.
	Name, Owner string
	// NoRoom reports that no new plan may wait, because the stored ones take too much.
	NoRoom bool
}

// moveKey identifies a move: a pod never changes its node.
type moveKey struct{ strategy, podUID string }

func keyOf(m plan.Move) moveKey { return moveKey{m.Strategy, m.Pod.UID} }

// Keep returns the plans after a pass, and the plan to announce, or nil. The proposal replaces the
// waiting steps of its strategies only if its moves differ from them. Moves that a person discarded
// do not count. A plan is announced only if it has a move that was not announced before. Keep returns ErrTooLarge, and
// the plans without the proposal, if no wave of it fits into an object, or if there is no room for another plan.
func (p Plans) Keep(n Proposal) (Plans, *Plan, error) {
	n.Now = n.Now.UTC().Truncate(time.Second)
	p = p.Expire(n.Now).endUseless(n)
	if len(n.Strategies) == 0 {
		return p, nil, nil
	}
	var next Plan
	if n.Plan != nil && len(n.Plan.Moves) > 0 {
		if next = p.newPlan(n); len(next.Moves) == 0 {
			return p, nil, fmt.Errorf("%w: its first wave does not fit into one object; lower the limits of the strategies in mode approve "+
				"(limits.perPass)", ErrTooLarge)
		}
	}
	fresh := map[moveKey]bool{}
	for _, m := range next.WaitingMoves() {
		fresh[keyOf(m)] = true
	}
	if maps.Equal(fresh, p.waitingMoves(n.Strategies)) {
		return p, nil, nil
	}
	if n.NoRoom && len(fresh) > 0 {
		return p, nil, fmt.Errorf("%w: the stored plans fill their 64 MiB, and none of them may be deleted; decide about them", ErrTooLarge)
	}
	p = p.replaceSteps(n, next.Name)
	if len(fresh) == 0 {
		return p, nil, nil
	}
	p.Waiting = append(p.Waiting, next)
	if p.announce(next, n) {
		return p, &next, nil
	}
	return p, nil, nil
}

// newPlan returns the plan that will wait, as far as an object can keep it. Discarded moves, and those that are useless
// without them, do not wait.
func (p Plans) newPlan(n Proposal) Plan {
	kept := *n.Plan
	kept.Expires = n.Now.Add(n.ValidFor)
	kept.Moves, kept.Hints = renumber(kept.Moves, kept.Hints)
	kept.ID = plan.ContentID(kept)
	spec := record.Spec(&kept, v1alpha1.ModeApprove)
	next := Plan{Plan: record.PlanOf(&v1alpha1.RebalancePlan{Spec: spec}), Name: n.Name, Since: n.Now, phase: v1alpha1.PhaseWaiting, generation: 1,
		spec: &spec, owner: n.Owner}
	marks := map[moveKey]plan.DiscardedMove{}
	for _, d := range p.Discarded() {
		marks[moveKey{d.Strategy, d.PodUID}] = d
	}
	for _, m := range next.Moves {
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
			p.Announced = append(p.Announced, Mark{m.Strategy, m.Pod.UID, n.Now.Add(n.ValidFor)})
		}
	}
	unknown := len(p.Announced) > before
	p.Announced = lastOf(p.Announced, maxMarks)
	return unknown
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// waitingMoves returns the moves of the strategies that wait in any plan of the release.
func (p Plans) waitingMoves(strategies []string) map[moveKey]bool {
	out := map[moveKey]bool{}
	for i := range p.Waiting {
		for _, m := range p.Waiting[i].WaitingMoves() {
			if !p.Waiting[i].Foreign && slices.Contains(strategies, m.Strategy) {
				out[keyOf(m)] = true
			}
		}
	}
	return out
}

// replaceSteps ends the waiting steps of the strategies of a proposal. Plans without waiting steps end.
func (p Plans) replaceSteps(n Proposal, by string) Plans {
	why := "a later pass found nothing left to move for it"
	if by != "" {
		why = "plan " + by + " replaced it"
	}
	for i := range p.Waiting {
		w := &p.Waiting[i]
		var steps []int
		for _, m := range w.WaitingMoves() {
			if !w.Foreign && slices.Contains(n.Strategies, m.Strategy) {
				steps = append(steps, m.Step)
			}
		}
		steps, _ = w.withPairs(steps)
		steps = slices.DeleteFunc(steps, func(step int) bool { return w.StateOf(step).State != Waiting })
		w.decide(steps, Decision{State: Replaced, At: n.Now})
	}
	return p.end(n.Now, func(w *Plan) (v1alpha1.Phase, string) {
		if w.isDecided() {
			return v1alpha1.PhaseReplaced, why
		}
		return "", ""
	})
}

// endUseless ends the plans of other configurations, because they can never be executed.
func (p Plans) endUseless(n Proposal) Plans {
	return p.end(n.Now, func(w *Plan) (v1alpha1.Phase, string) {
		if w.ConfigHash != n.ConfigHash && w.count(Approved) == 0 {
			return v1alpha1.PhaseReplaced, "the configuration has changed since it was made"
		}
		return "", ""
	})
}
