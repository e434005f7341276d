package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// maxResiduals bounds the goals that one line of the bound names.
const maxResiduals = 5

// bound sets what the plan does against what any plan would have to do.
func (t *table) bound(p plan.Plan) {
	if len(p.Goals) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.paint(bold, "Bound"))
	if len(p.Moves) > 0 {
		t.line("  No plan that reaches as much needs fewer than %s; this one has %d.",
			count(p.Bound.MinForPlan, "eviction"), len(p.Moves))
	} else {
		t.line("  No eviction is planned.")
	}
	if more := p.Bound.MinEvictions - len(p.Moves); more > 0 && !level(p) {
		why := "which limits or budgets forbid or which would not help"
		if p.SearchLimitReached != "" {
			why = "some of which may not have been tried"
		}
		t.line("  To level what can be levelled takes at least %s, %s.", count(more, "more eviction"), why)
	}
	if p.SearchLimitReached != "" {
		t.line("  The search was cut short: %s.", safe(p.SearchLimitReached))
	}
	if left := t.residuals(p); left != "" {
		t.line("  No permitted eviction removes %s.", left)
	}
	t.held(p)
	g := columns("WHAT BLOCKS IT", "DETAIL")
	for _, b := range p.Bound.BlockedBy {
		g.row(safe(string(b.Code)), safe(b.Detail))
	}
	if len(g.rows) > 0 {
		t.lines = append(t.lines, g.lines()...)
	}
}

// held says what no single further eviction removes, by who holds it, and names the
// first goals of each.
func (t *table) held(p plan.Plan) {
	for _, by := range [...]plan.UnmetReason{plan.UnmetByScheduler, plan.UnmetNoTarget, plan.UnmetBenefitTooSmall, plan.UnmetByGuards} {
		var of []plan.UnmetGoal
		for _, h := range p.Bound.UnmetGoals {
			if h.Reason == by {
				of = append(of, h)
			}
		}
		if len(of) == 0 {
			continue
		}
		t.line("  Held by %s, so that no single further eviction helps: %s.", holders[by], count(len(of), "goal"))
		for i, h := range of {
			if !t.wide && i == maxResiduals {
				t.line("    ... and %d more (-o wide shows all)", len(of)-i)
				break
			}
			t.line("    %s", safe(h.Detail))
		}
	}
}

// holders are words for people; by guards, budgets too.
var holders = map[plan.UnmetReason]string{
	plan.UnmetByScheduler: "the scheduler", plan.UnmetNoTarget: "what nodes have room for", plan.UnmetBenefitTooSmall: "being too little to evict for", plan.UnmetByGuards: "guards and budgets",
}

// level: every goal is met after the plan.
func level(p plan.Plan) bool {
	for _, g := range p.Goals {
		if p.After.Excess[g.ID] > tiny {
			return false
		}
	}
	return true
}

// residuals names each goal with what no permitted eviction takes away, in its
// own unit.
func (t *table) residuals(p plan.Plan) string {
	var parts []string
	hidden := 0
	for _, g := range p.Goals {
		v := p.Bound.ResidualByGoal[g.ID]
		if v <= tiny {
			continue
		}
		if !t.wide && len(parts) == maxResiduals {
			hidden++
			continue
		}
		parts = append(parts, residual(g, v))
	}
	if hidden > 0 {
		parts = append(parts, "and that of "+count(hidden, "more goal"))
	}
	return strings.Join(parts, "; ")
}

func residual(g plan.Goal, v float64) string {
	what := safe(g.Subject.Name)
	switch g.Kind {
	case plan.NodeBelow:
		return safe(g.ID) + ": " + resourceOf(g) + " of " + what + ", " + percent(v) + " over"
	case plan.SkewAtMost:
		return safe(g.ID) + ": " + what + ", " + count(int(v), "pod") + " over"
	}
	return safe(g.ID) + ": " + what + ", " + excess(g, v)
}
