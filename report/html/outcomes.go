package html

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// isRun reports whether the moves of the plan have outcomes. Those of proposals have none.
func (r *Report) isRun(p *plan.Plan) bool {
	return r.outcomes != nil && (p == r.plan || p == r.view.Run.Replan)
}

// result says what became of a move, in the words that all tables use.
func result(o *plan.Outcome) string {
	switch {
	case o == nil:
		return "not begun"
	case o.Outcome == plan.Evicted && o.Removed:
		return "removed"
	case o.Outcome == plan.Evicted && o.Pending:
		return "no node yet"
	case o.Outcome == plan.Evicted && o.Landed == "":
		return "no replacement yet"
	case o.Outcome == plan.Evicted && o.LandedAsPredicted && o.ReadyAfter == "" && o.Reason.Code != "":
		return "as predicted, not Ready"
	case o.Outcome == plan.Evicted && o.LandedAsPredicted:
		return "as predicted"
	case o.Outcome == plan.Evicted:
		return "elsewhere"
	case o.Outcome == plan.UnknownOutcome:
		return "unknown"
	case o.Outcome == plan.InProgress:
		return "another program moves the pod"
	case o.Outcome == plan.AlreadyGone:
		return "was gone before"
	case o.Outcome == plan.WouldEvict:
		return "would be evicted"
	}
	return "not evicted"
}

// actualCell says where the replacement landed, and otherwise why the pod was not evicted.
func (r *Report) actualCell(m *plan.Move) Cell {
	o := r.outcomes[m.Step]
	c := Cell{Text: result(o)}
	if o == nil {
		return c
	}
	if o.Landed != "" {
		c = Cell{Name: true, Text: o.Landed, Code: ""}
		c.After = result(o)
		c.Class = "actual"
	}
	if o.Reason.Code != "" && !o.LandedAsPredicted {
		c.Code = string(o.Reason.Code)
	}
	return c
}

// addLanding marks where the replacement landed: filled as predicted, outlined elsewhere.
func (r *Report) addLanding(t *Track, columns []string, m *plan.Move) {
	o := r.outcomes[m.Step]
	if o == nil || o.Landed == "" {
		return
	}
	t.Landed, t.Filled = columnX(slices.Index(columns, o.Landed), len(columns)), o.LandedAsPredicted
	t.Label += "; it landed on " + o.Landed + ", " + result(o)
}

// notAsPredicted lists the moves of a run whose outcome is not the predicted one.
func (r *Report) notAsPredicted(p *plan.Plan) (out []plan.Move) {
	if !r.isRun(p) {
		return nil
	}
	for i := range p.Moves {
		if o := r.outcomes[p.Moves[i].Step]; o != nil && !o.LandedWell() && o.Outcome != plan.WouldEvict {
			out = append(out, p.Moves[i])
		}
	}
	return out
}

// outcomeLead counts the outcomes of a run.
func (r *Report) outcomeLead(p *plan.Plan) string {
	counts := map[string]int{}
	evicted := 0
	for i := range p.Moves {
		o := r.outcomes[p.Moves[i].Step]
		counts[result(o)]++
		if o != nil && o.Outcome == plan.Evicted {
			evicted++
		}
	}
	kinds := sortedKeys(counts)
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var parts []string
	for _, k := range kinds {
		parts = append(parts, number(counts[k])+" "+k)
	}
	lead := fmt.Sprintf("%s of %s %s evicted: %s.", number(evicted), count(len(p.Moves), "pod"), verb(evicted, "was", "were"), join(parts))
	if s := r.view.Run.Stopped; s != nil && p == r.plan {
		lead += " The pass ended early: " + s.Message + " (" + string(s.Code) + ")."
	}
	return lead
}
