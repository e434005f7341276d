package answers

import (
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// results count the moves of a pass by what became of them.
type results struct {
	planned, evicted, remaining                                       int
	predicted, elsewhere, notReady, notSeen, unknown, background, not int
	// first is the first outcome that is not the planned one, and its move.
	first *plan.Outcome
	move  *plan.Move
}

func countResults(v *view.View) *results {
	moves := make(map[int]*plan.Move, len(v.Plan.Moves))
	for _, p := range []*plan.Plan{&v.Plan, v.Run.Replan} {
		if p == nil {
			continue
		}
		for i := range p.Moves {
			moves[p.Moves[i].Step] = &p.Moves[i]
		}
	}
	r := &results{planned: len(v.Run.Outcomes), remaining: len(moves)}
	for i := range v.Run.Outcomes {
		o := &v.Run.Outcomes[i]
		if moves[o.Step] != nil {
			r.remaining--
		}
		if o.Outcome == plan.Evicted {
			r.evicted++
		}
		*r.counter(o)++
		if r.first == nil && !o.LandedWell() {
			r.first, r.move = o, moves[o.Step]
		}
	}
	r.planned += r.remaining
	return r
}

// counter returns the count to which an outcome belongs.
func (r *results) counter(o *plan.Outcome) *int {
	switch {
	case o.LandedWell():
		return &r.predicted
	case o.Outcome == plan.UnknownOutcome:
		return &r.unknown
	case o.Outcome == plan.InProgress:
		return &r.background
	case o.Outcome != plan.Evicted:
		return &r.not
	case o.Landed == "":
		return &r.notSeen
	case o.LandedAsPredicted:
		return &r.notReady
	}
	return &r.elsewhere
}

// asPredicted reports whether every move has ended as planned.
func (r *results) asPredicted() bool { return r.predicted == r.planned }

// words say where the replacements are, such as "1 replacement landed as predicted and 1 elsewhere".
func (r *results) words() string {
	var out []string
	landed := func(n int, verb, words string) {
		switch {
		case n == 0:
		case len(out) == 0:
			out = append(out, Count(n, "replacement")+" "+verb+words)
		default:
			out = append(out, Number(n)+" "+words)
		}
	}
	is := func(n int) string { return plural.Choose(n, "is ", "are ") }
	landed(r.predicted, "landed ", "as predicted")
	landed(r.elsewhere, "landed ", "elsewhere")
	landed(r.notReady, is(r.notReady), "not Ready")
	landed(r.notSeen, is(r.notSeen), "not seen yet")
	if r.unknown > 0 {
		out = append(out, Count(r.unknown, "outcome")+" "+is(r.unknown)+"unknown")
	}
	if r.background > 0 {
		out = append(out, Count(r.background, "eviction")+" "+is(r.background)+"still in progress")
	}
	return Join(out)
}
