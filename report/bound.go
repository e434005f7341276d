package report

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxListedGoals limits the goals that one paragraph of the bound names.
const maxListedGoals = 5

// writeBound compares the plan with the lower bound on evictions, and lists what blocks the goals that stay unmet.
func (t *table) writeBound(p plan.Plan) {
	if len(p.Goals) == 0 {
		return
	}
	t.addLine("")
	t.addLine("%s", t.paint(bold, "Lower bound"))
	if len(p.Moves) > 0 {
		t.addLine("  Any plan with the same result needs at least %s; this plan has %d.",
			plural.Count(p.Bound.MinForPlan, "eviction"), len(p.Moves))
	} else {
		t.addLine("  No eviction is planned.")
	}
	goals, met, _ := countGoals(p)
	if more := p.Bound.MinEvictions - len(p.Moves); more > 0 && met < goals {
		why := "limits or budgets forbid them, or they would not help"
		if p.SearchLimitReached != "" {
			why = "the search may not have tried all of them"
		}
		t.addLine("  Meeting every reachable goal takes at least %s: %s.", plural.Count(more, "more eviction"), why)
	}
	if p.SearchLimitReached != "" {
		t.addLine("  The search reached its limit: %s.", escape(p.SearchLimitReached))
	}
	if left := t.residualsText(p); left != "" {
		t.addLine("  No permitted eviction removes %s.", left)
	}
	t.writeUnmetGoals(p)
	g := newGrid("BLOCKED BY", "DETAIL")
	for _, b := range p.Bound.BlockedBy {
		g.addRow(escape(string(b.Code)), escape(b.Detail))
	}
	if len(g.rows) > 0 {
		t.lines = append(t.lines, g.lines()...)
	}
}

// writeUnmetGoals lists, by reason, the goals that no single further eviction helps.
func (t *table) writeUnmetGoals(p plan.Plan) {
	for _, r := range unmetReasons {
		goals := slices.DeleteFunc(slices.Clone(p.Bound.UnmetGoals), func(u plan.UnmetGoal) bool { return u.Reason != r.reason })
		if len(goals) == 0 {
			continue
		}
		t.addLine("  No single further eviction helps %s: %s.", plural.Count(len(goals), "goal"), r.text)
		for i, u := range goals {
			if !t.wide && i == maxListedGoals {
				t.addLine("    ... and %d more (-o wide shows all)", len(goals)-i)
				break
			}
			t.addLine("    %s", escape(u.Detail))
		}
	}
}

var unmetReasons = [...]struct {
	reason plan.UnmetReason
	text   string
}{
	{plan.UnmetByScheduler, "the scheduler would place the replacement elsewhere"},
	{plan.UnmetNoTarget, "no node takes a pod without making another goal worse"},
	{plan.UnmetBenefitTooSmall, "the excess is too small to justify an eviction"},
	{plan.UnmetByGuards, "guards and budgets block the pods"},
}

// residualsText lists the excess that no permitted eviction removes, by goal and in the unit of each goal.
func (t *table) residualsText(p plan.Plan) string {
	var parts []string
	for _, g := range p.Goals {
		if v := p.Bound.ResidualByGoal[g.ID]; v > tiny && g.Kind != plan.PodAway && g.Kind != plan.NodeEmpty { // the blockers count these pods
			parts = append(parts, residualText(g, v))
		}
	}
	if hidden := len(parts) - maxListedGoals; hidden > 0 && !t.wide {
		parts = append(parts[:maxListedGoals], "and the excess of "+plural.Count(hidden, "more goal"))
	}
	return strings.Join(parts, "; ")
}

func residualText(g plan.Goal, v float64) string {
	name := escape(g.Subject.Name)
	if g.Group != "" {
		name += " (" + escape(g.Group) + ")"
	}
	switch g.Kind {
	case plan.NodeBelow:
		return escape(g.ID) + ": " + resourceText(g) + " of " + name + ", " + percent.Of(v) + " over"
	case plan.SkewAtMost:
		return escape(g.ID) + ": " + name + ", a skew of " + number(v) + " over the limit"
	}
	return escape(g.ID) + ": " + name + ", " + excessText(g, v)
}
