package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// maxListedGoals limits the goals that one paragraph of the bound names.
const maxListedGoals = 5

// writeBound compares the plan with the lower bound on evictions.
func (t *planTable) writeBound(p plan.Plan) {
	if len(p.Goals) == 0 {
		return
	}
	g := layout.NewGrid("~")
	if len(p.Moves) > 0 {
		g.Add("Any plan with the same result needs at least " + plural.Count(p.Bound.MinForPlan, "eviction") +
			"; this plan has " + strconv.Itoa(len(p.Moves)) + ".")
	} else {
		g.Add("No eviction is planned.")
	}
	goals, met, _ := countGoals(p)
	if more := p.Bound.MinEvictions - len(p.Moves); more > 0 && met < goals {
		why := "limits or budgets forbid them, or they would not help"
		if p.SearchLimitReached != "" {
			why = "the search may not have tried all of them"
		}
		g.Add("Meeting every reachable goal takes at least " + plural.Count(more, "more eviction") + ": " + why + ".")
	}
	if p.SearchLimitReached != "" {
		g.Add("The search reached its limit: " + escape(p.SearchLimitReached) + ".")
	}
	if n := p.GoalsNotMovable; n > 0 {
		g.Add("None of the pods of " + plural.Count(n, "unmet goal") + " may leave; the search left out " + plural.Choose(n, "this goal", "these goals") + ".")
	}
	t.out.addSection(boundRank, layout.Section{Title: "Lower bound", Grid: g, Keep: 2})
}

// blockingCodesOf returns the codes of blockers, in the order in which they first occur.
func blockingCodesOf(all []plan.Blocker) (codes []plan.Code) {
	for _, b := range all {
		if !slices.Contains(codes, b.Code) {
			codes = append(codes, b.Code)
		}
	}
	return codes
}

// writeUnmetGoals says why goals stay unmet: what no eviction can remove, what no single further eviction removes, and
// which pods are blocked.
func (t *planTable) writeUnmetGoals(p plan.Plan) {
	g := layout.NewGrid("~")
	var order, details []int // a shortened report names the causes before the goals
	cause := func(text string) {
		order = append(order, g.Len())
		g.Add(text)
	}
	if left := residualsText(p, t.out.wide); left != "" {
		cause("No permitted eviction removes " + left + ".")
	}
	for _, r := range unmetReasons {
		goals := slices.DeleteFunc(slices.Clone(p.Bound.UnmetGoals), func(u plan.UnmetGoal) bool { return u.Reason != r.reason })
		if len(goals) == 0 {
			continue
		}
		cause("No single further eviction helps " + plural.Count(len(goals), "goal") + ": " + r.text + ".")
		for _, u := range goals {
			details = append(details, g.Len())
			g.Add("  " + escape(u.Detail))
		}
	}
	for _, code := range blockingCodesOf(p.Bound.BlockedBy) {
		blocked := slices.DeleteFunc(slices.Clone(p.Bound.BlockedBy), func(b plan.Blocker) bool { return b.Code != code })
		if len(blocked) == 1 {
			cause(escape(string(code)) + ": " + escape(blocked[0].Detail))
			continue
		}
		cause(escape(string(code)) + " blocks pods of " + strconv.Itoa(len(blocked)) + " goals.")
		for _, b := range blocked {
			details = append(details, g.Len())
			g.Add("  " + escape(b.Detail))
		}
	}
	t.out.addSection(unmetRank, layout.Section{Title: "Why goals stay unmet", Grid: g, Order: append(order, details...), Keep: 5})
}

var unmetReasons = [...]struct {
	reason plan.UnmetReason
	text   string
}{
	{plan.UnmetByScheduler, "the scheduler would place the replacement elsewhere"},
	{plan.UnmetNoTarget, "no other node may take a pod without making another goal worse"},
	{plan.UnmetBenefitTooSmall, "the excess is too small to justify an eviction"},
	{plan.UnmetByGuards, "guards and budgets block the pods"},
}

// residualsText lists the excess that no permitted eviction removes, by goal and in the unit of each goal.
func residualsText(p plan.Plan, wide bool) string {
	var parts []string
	for _, g := range p.Goals {
		if v := p.Bound.ResidualByGoal[g.ID]; v > tiny && g.Kind != plan.PodAway && g.Kind != plan.NodeEmpty { // the blockers count these pods
			parts = append(parts, residualText(g, v))
		}
	}
	if hidden := len(parts) - maxListedGoals; hidden > 0 && !wide {
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
		return escape(g.ID) + ": " + resourceText(g) + " of " + name + ", " + percent.Of(v) + " over " + percent.Of(g.Limit)
	case plan.SkewAtMost:
		return escape(g.ID) + ": " + name + ", a skew of " + number(v) + " over the limit"
	}
	return escape(g.ID) + ": " + name + ", " + excessText(g, v)
}
