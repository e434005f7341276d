package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// maxListedGoals limits the goals that one paragraph of the bound names.
const maxListedGoals = 5

// bound compares the plan with the lower bound on evictions, and lists what blocks
// the goals that stay unmet.
func (t *table) bound(p plan.Plan) {
	if len(p.Goals) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.paint(bold, "Lower bound"))
	if len(p.Moves) > 0 {
		t.line("  Any plan with the same result needs at least %s; this plan has %d.", count(p.Bound.MinForPlan, "eviction"), len(p.Moves))
	} else {
		t.line("  No eviction is planned.")
	}
	if more := p.Bound.MinEvictions - len(p.Moves); more > 0 && !allGoalsMet(p) {
		why := "limits or budgets forbid them, or they would not help"
		if p.SearchLimitReached != "" {
			why = "the search may not have tried all of them"
		}
		t.line("  Meeting every reachable goal takes at least %s: %s.", count(more, "more eviction"), why)
	}
	if p.SearchLimitReached != "" {
		t.line("  The search reached its limit: %s.", safe(p.SearchLimitReached))
	}
	if left := t.residuals(p); left != "" {
		t.line("  No permitted eviction removes %s.", left)
	}
	t.unmetGoals(p)
	g := columns("BLOCKED BY", "DETAIL")
	for _, b := range p.Bound.BlockedBy {
		g.row(safe(string(b.Code)), safe(b.Detail))
	}
	if len(g.rows) > 0 {
		t.lines = append(t.lines, g.lines()...)
	}
}

// unmetGoals lists, by reason, the goals that no single further eviction helps.
func (t *table) unmetGoals(p plan.Plan) {
	for _, reason := range [...]plan.UnmetReason{plan.UnmetByScheduler, plan.UnmetNoTarget, plan.UnmetBenefitTooSmall, plan.UnmetByGuards} {
		var goals []plan.UnmetGoal
		for _, u := range p.Bound.UnmetGoals {
			if u.Reason == reason {
				goals = append(goals, u)
			}
		}
		if len(goals) == 0 {
			continue
		}
		t.line("  No single further eviction helps %s: %s.", count(len(goals), "goal"), unmetReasonText[reason])
		for i, u := range goals {
			if !t.wide && i == maxListedGoals {
				t.line("    ... and %d more (-o wide shows all)", len(goals)-i)
				break
			}
			t.line("    %s", safe(u.Detail))
		}
	}
}

var unmetReasonText = map[plan.UnmetReason]string{
	plan.UnmetByScheduler:     "the scheduler would place the replacement elsewhere",
	plan.UnmetNoTarget:        "no node takes a pod without making another goal worse",
	plan.UnmetBenefitTooSmall: "the excess is too small to evict for",
	plan.UnmetByGuards:        "guards and budgets block the pods",
}

// allGoalsMet reports whether the plan meets every goal.
func allGoalsMet(p plan.Plan) bool {
	for _, g := range p.Goals {
		if p.After.Excess[g.ID] > tiny {
			return false
		}
	}
	return true
}

// residuals lists the excess that no permitted eviction removes, by goal and in the
// unit of each goal.
func (t *table) residuals(p plan.Plan) string {
	var parts []string
	hidden := 0
	for _, g := range p.Goals {
		v := p.Bound.ResidualByGoal[g.ID]
		if v <= tiny {
			continue
		}
		if !t.wide && len(parts) == maxListedGoals {
			hidden++
			continue
		}
		parts = append(parts, residualText(g, v))
	}
	if hidden > 0 {
		parts = append(parts, "and that of "+count(hidden, "more goal"))
	}
	return strings.Join(parts, "; ")
}

func residualText(g plan.Goal, v float64) string {
	name := safe(g.Subject.Name)
	switch g.Kind {
	case plan.NodeBelow:
		return safe(g.ID) + ": " + resourceText(g) + " of " + name + ", " + percent(v) + " over"
	case plan.SkewAtMost:
		return safe(g.ID) + ": " + name + ", " + count(int(v), "pod") + " over"
	}
	return safe(g.ID) + ": " + name + ", " + excess(g, v)
}
