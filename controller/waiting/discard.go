package waiting

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// DiscardResult is the effect of Discard.
type DiscardResult struct {
	Plans Plans
	// ID is the ID of the plan whose steps were discarded.
	ID string
	// Steps are all discarded steps in order. Needed are those of them that the choice did not contain.
	Steps, Needed []int
}

// Discard discards the chosen steps. Their strategies do not propose them again for as long as their plan is valid.
func (p Plans) Discard(prefix string, c StepSelection, by string, now time.Time) (DiscardResult, error) {
	p = p.Expire(now)
	w, err := p.Find(prefix)
	if err != nil {
		return DiscardResult{}, err
	}
	steps, needed, err := w.Choose(c, false)
	if err != nil {
		return DiscardResult{}, err
	}
	w.decide(steps, Decision{State: Discarded, By: by, At: now.UTC()})
	until := now.UTC().Add(w.Expires.Sub(w.Since))
	moves := w.movesOf(steps)
	p.forgetDiscards(moves)
	for _, m := range moves {
		p.Discarded = append(p.Discarded, plan.DiscardedMove{Strategy: m.Strategy, PodUID: m.Pod.UID, Pod: m.Pod.String(), Plan: w.ID,
			Step: m.Step, By: by, At: now.UTC(), Until: until})
	}
	p.Discarded = lastOf(p.Discarded, maxMarks)
	id := w.ID
	p = p.end(now, func(w *Plan) string {
		if w.ID != id || slices.ContainsFunc(w.Moves, func(m plan.Move) bool {
			s := w.StateOf(m.Step).State
			return s == Waiting || s == Approved
		}) {
			return ""
		}
		return "it was discarded by " + by + " at " + now.UTC().Format(time.RFC3339)
	})
	return DiscardResult{Plans: p, ID: id, Steps: steps, Needed: needed}, nil
}

// movesOf returns the moves with these step numbers.
func (w *Plan) movesOf(steps []int) (moves []plan.Move) {
	chosen := setOf(steps)
	for _, m := range w.Moves {
		if chosen[m.Step] {
			moves = append(moves, m)
		}
	}
	return moves
}

// forgetDiscards lets the strategies propose the moves again.
func (p *Plans) forgetDiscards(moves []plan.Move) {
	again := map[moveKey]bool{}
	for _, m := range moves {
		again[keyOf(m)] = true
	}
	p.Discarded = slices.DeleteFunc(p.Discarded, func(d plan.DiscardedMove) bool {
		return again[moveKey{d.Strategy, d.PodUID}]
	})
}

// Undo lets the strategies propose discarded moves again. The plan may not wait any more. If it does, the steps wait
// again.
func (p Plans) Undo(prefix string, c StepSelection, now time.Time) (DiscardResult, error) {
	p = p.Expire(now)
	var chosen []plan.DiscardedMove
	ids := map[string]bool{}
	for _, d := range p.Discarded {
		if strings.HasPrefix(d.Plan, prefix) && (c.Strategy == "" || d.Strategy == c.Strategy) && c.names(d.Step) {
			chosen, ids[d.Plan] = append(chosen, d), true
		}
	}
	switch {
	case len(chosen) == 0:
		return DiscardResult{}, rejectf("no discarded move belongs to the choice in plan %q; evenkeel approve lists the discarded moves", shorten(prefix))
	case len(ids) > 1:
		return DiscardResult{}, rejectf("the IDs of several plans with discarded moves begin with %q", shorten(prefix))
	}
	out := DiscardResult{ID: chosen[0].Plan}
	for _, d := range chosen {
		out.Steps = append(out.Steps, d.Step)
	}
	slices.Sort(out.Steps)
	p.Discarded = slices.DeleteFunc(p.Discarded, func(d plan.DiscardedMove) bool { return slices.Contains(chosen, d) })
	for i := range p.Waiting {
		if w := &p.Waiting[i]; w.ID == out.ID {
			all, needed := w.withPairs(out.Steps)
			out.Steps, out.Needed = all, needed
			p.forgetDiscards(w.movesOf(all))
			w.Decisions = slices.DeleteFunc(w.Decisions, func(d Decision) bool {
				return d.State == Discarded && slices.Contains(all, d.Step)
			})
		}
	}
	out.Plans = p
	return out, nil
}

// names reports whether the choice has the step, or no steps at all.
func (c StepSelection) names(step int) bool {
	return len(c.Steps) == 0 || slices.ContainsFunc(c.Steps, func(r Range) bool { return r.First <= step && step <= r.Last })
}
