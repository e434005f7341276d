package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// writeStrategies writes one line for each strategy: its goals, those that are unmet now and after the plan, and its
// evictions. For a strategy in another mode they are those of its proposal.
func (t *planTable) writeStrategies(p plan.Plan) {
	heads := []string{"STRATEGY", ">GOALS", ">UNMET NOW", ">UNMET AFTER", ">EVICTIONS"}
	noted := slices.ContainsFunc(p.Strategies, func(st plan.StrategyState) bool { return strategyNote(st) != "" })
	if noted {
		heads = append(heads, "~NOTE")
	}
	g, unmet := layout.NewGrid(heads...), []int{}
	for _, st := range p.Strategies {
		count := countOfStrategy(*p.Whole(), st)
		cells := []string{escape(st.Name), strconv.Itoa(st.Goals), strconv.Itoa(st.Unmet), count.afterText(st), strconv.Itoa(count.evictions)}
		if noted {
			cells = append(cells, strategyNote(st))
		}
		g.Add(cells...)
		unmet = append(unmet, st.Unmet)
	}
	t.out.addSection(strategyRank, layout.Section{Title: "Strategies: their goals, and the evictions for them", Picked: "with the most unmet goals",
		Grid: g, Keep: 5, Order: orderBy(g.Len(), func(a, b int) int { return unmet[b] - unmet[a] })})
}

// strategyCount counts the listed goals of a strategy with excess, and its moves.
type strategyCount struct{ now, after, evictions int }

// countOfStrategy counts in the plan, or in the proposal that has the strategy.
func countOfStrategy(p plan.Plan, st plan.StrategyState) (c strategyCount) {
	if st.Mode != "" {
		i := slices.IndexFunc(p.Proposals, func(of plan.Proposal) bool { return of.Mode == st.Mode })
		if i < 0 {
			return c
		}
		p = p.Proposals[i].Plan
	}
	for _, g := range p.Goals {
		if n := podGoalsOf(p, g); g.Strategy != st.Name || n.Unmet > 0 {
			continue
		}
		c.now++
		if p.After.Excess[g.ID] > tiny {
			c.after++
		}
	}
	for _, n := range p.PodGoals {
		if n.Strategy == st.Name {
			c.now, c.after = c.now+n.Unmet, c.after+n.UnmetAfter
		}
	}
	for _, n := range p.OmittedGoals {
		if n.Strategy == st.Name {
			c.now, c.after = c.now+n.Unmet, c.after+n.UnmetAfter
		}
	}
	for _, m := range p.Moves {
		if m.Strategy == st.Name {
			c.evictions++
		}
	}
	return c
}

// afterText writes the number of goals that stay unmet. The plan does not know it if it does not list the goals.
func (c strategyCount) afterText(st plan.StrategyState) string {
	if c.now == 0 && st.Unmet > 0 {
		return "-"
	}
	return strconv.Itoa(c.after)
}

// strategyNote says what is special about a strategy in this pass.
func strategyNote(st plan.StrategyState) string {
	var notes []string
	if st.Mode != "" {
		notes = append(notes, "mode "+escape(string(st.Mode)))
	}
	switch {
	case st.NoData != "":
		notes = append(notes, "no usage data")
	case st.NothingInScope != "":
		notes = append(notes, "selects nothing")
	case st.NoViolation:
		notes = append(notes, "found no violation")
	case st.Goals > 0 && !st.Due:
		notes = append(notes, "not due")
	}
	if st.WaitingNodes > 0 {
		notes = append(notes, plural.Count(st.WaitingNodes, "node")+" "+plural.Choose(st.WaitingNodes, "waits", "wait"))
	}
	return strings.Join(notes, ", ")
}
