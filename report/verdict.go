package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// writeVerdict writes the first line about a second plan or a proposal.
func (t *planTable) writeVerdict(p plan.Plan, subject, effect string) {
	color, text := t.verdict(p, subject, effect)
	if n := countWorseWorkloads(p); n > 0 && len(p.NothingJudged) == 0 {
		text, color = fmt.Sprintf("%s; a zone failure would hit %s harder than now (below)", text, plural.Count(n, "workload")), yellow
	}
	t.out.addVerdict(color, text+".")
}

// verdict says in numbers what the plan does and whether it is executed. It is about automatic strategies, and counts
// the moves for the others apart.
func (t *planTable) verdict(p plan.Plan, subject, effect string) (layout.Style, string) {
	goals, met, improved := countGoals(p)
	nodes := countNodesToEmpty(p)
	color, text := layout.Style(green), ""
	if len(p.NothingJudged) > 0 {
		return red, nothingJudgedText(p, subject, effect)
	}
	waiting, proposed := waitingText(automaticStrategies(p)), t.proposedText(p)
	switch {
	case len(p.Goals) == 0 && len(p.Moves) == 0 && waiting != "":
		text, color = "nothing to do yet: "+waiting, yellow
	case len(p.Goals) == 0 && len(p.Moves) == 0:
		if text, color = nothingToDoText(p); proposed != "" {
			text, proposed = proposed+"; "+strings.TrimPrefix(text, "nothing to do: "), ""
		} else if unmet := unmetProposedText(p); unmet != "" {
			text, color = unmet+"; "+strings.TrimPrefix(text, "nothing to do: "), yellow
		}
	case goals+nodes.all == 0: // a person approved these steps; the waiting plan has the goals
		text = plural.Count(len(p.Moves), "approved eviction")
	case goals == 0:
		text = nodes.text()
	case len(p.Moves) == 0:
		color = yellow
		text = fmt.Sprintf("no evictions; %d of %d goals stay unmet (reasons below)", goals-met, goals)
	default:
		if met < goals {
			color = yellow
		}
		text = movesEffectText(len(p.Moves)-nodes.evictions, met, improved, goals)
	}
	if goals > 0 && nodes.all > 0 {
		text += "; " + nodes.text()
	}
	if goals+nodes.all > 0 && len(p.Moves) > 0 {
		text += fmt.Sprintf("; lower bound %d", p.Bound.MinForPlan)
	}
	if waiting != "" && len(p.Goals)+len(p.Moves) > 0 {
		text, color = text+"; waiting: "+waiting, yellow
	}
	if more := noDataText(p, true); more != "" && slices.ContainsFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Goals > 0 }) {
		text, color = text+"; "+more, yellow
	}
	if proposed != "" {
		text += "; " + proposed
	}
	if blockingCodes(p) != "" {
		color = yellow
	}
	if p.SearchLimitReached != "" {
		text, color = text+"; the search reached its limit", yellow
	}
	if effect != "" {
		text += "; " + effect
	}
	return color, subject + ": " + text
}

// writeEmptyScopes names the strategies whose own selectors select nothing, unless the first line does.
func (t *planTable) writeEmptyScopes(p plan.Plan) {
	for _, st := range p.Strategies {
		if st.NoPodSelected != "" {
			t.out.addText(yellow, fmt.Sprintf("Strategy %s: %s. If such pods should exist, check how it is written.", escape(st.Name),
				escape(st.NoPodSelected)))
		}
	}
	if slices.ContainsFunc(p.NothingJudged, func(r plan.Reason) bool { return r.Code == plan.NothingInScope }) {
		return
	}
	for _, st := range p.Strategies {
		if st.NothingInScope != "" {
			t.out.addText(yellow, fmt.Sprintf("Strategy %s does nothing: %s (%s).", escape(st.Name), escape(st.NothingInScope),
				plan.NothingInScope))
		}
	}
}

// untrustedText says why the predictions of a plan that is only shown are untrusted. It returns "" if they are trusted.
func untrustedText(p plan.Plan) string {
	var why []string
	for _, s := range p.Schedulers {
		if s.Planned && !slices.Contains(why, s.Reason) {
			why = append(why, s.Reason)
		}
	}
	return escape(strings.Join(why, "; "))
}

const nothingJudged = ": could judge nothing: "

// nothingJudgedText is about a pass that could judge nothing. It names every cause.
func nothingJudgedText(p plan.Plan, subject, effect string) string {
	text := subject + nothingJudged + escape(p.NothingJudgedText())
	if effect != "" {
		text += "; " + effect
	}
	return text
}

// evictionEffectText describes whether the plan will be executed, and otherwise the reason.
func evictionEffectText(p plan.Plan, live bool) string {
	codes := blockingCodes(p)
	switch {
	case live && codes != "":
		return "evictions are blocked (" + codes + "): neither this command nor `evenkeel run` evicts"
	case codes != "":
		return "dry run, and evictions are blocked (" + codes + "): nothing is evicted"
	case live && untrustedText(p) != "":
		return "neither this command nor `evenkeel run` evicts, because the predictions are untrusted"
	case live && isPlannerStateUnknown(p):
		return "this command evicts nothing, and it could not read the planner state; " +
			"with this configuration `evenkeel run` evicts if it can read the state"
	case live && len(p.Strategies) > 0 && len(automaticStrategies(p)) == 0:
		if !slices.ContainsFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Mode == plan.Approve }) {
			return "neither this command nor `evenkeel run` evicts"
		}
		return "this command evicts nothing; with this configuration `evenkeel run` evicts only what a person approves"
	case live:
		return "this command evicts nothing; with this configuration `evenkeel run` evicts"
	}
	return "dry run: nothing is evicted"
}

// blockingCodes lists the reason codes that block every eviction. It returns "" if evictions are not blocked.
func blockingCodes(p plan.Plan) string {
	var codes []string
	for _, b := range p.Blocks {
		codes = append(codes, escape(string(b.Reason.Code)))
	}
	return strings.Join(codes, ", ")
}

// isPlannerStateUnknown reports whether the planner state could not be read. No run evicts without the planner state.
func isPlannerStateUnknown(p plan.Plan) bool {
	return slices.ContainsFunc(p.Inputs, func(in plan.Input) bool { return in.Source == plan.PlannerStateSource && len(in.Problems) > 0 })
}

// waitingText lists the nodes above their target for which strategies wait for more samples. It returns "" if no
// strategy waits.
func waitingText(all []plan.StrategyState) string {
	var out []string
	for _, st := range all {
		if st.WaitingNodes == 0 {
			continue
		}
		reason := escape(st.WaitReason)
		if reason == "" {
			reason = "above its target, but a condition of the strategy is not met yet"
		}
		nodes := "1 node "
		if st.WaitingNodes > 1 {
			nodes = fmt.Sprintf("%d nodes, each ", st.WaitingNodes)
		}
		out = append(out, nodes+reason+" ("+escape(st.Name)+")")
	}
	return strings.Join(out, ", ")
}

// noDataText describes the missing data of strategies and pressure hints. With named set, it also names the strategies.
// It returns "" if no data is missing.
func noDataText(p plan.Plan, named bool) string {
	var out []string
	for _, st := range p.Strategies {
		if st.NoData == "" {
			continue
		}
		why := escape(st.NoData) + " (below)"
		if named {
			why = "strategy " + escape(st.Name) + ": " + why
		}
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if why := escape(p.HintsNoData) + " (below)"; p.HintsNoData != "" && !slices.Contains(out, why) {
		out = append(out, "hints: "+why)
	}
	return strings.Join(out, "; ")
}

// countGoals counts the unmet goals of the plan, and those that it meets or improves. Nodes to
// empty do not count: a node that cannot be emptied violates nothing.
func countGoals(p plan.Plan) (all, met, improved int) {
	before, after := p.UnlistedGoals()
	all, met = before, before-after
	for _, g := range p.Goals {
		if g.Kind == plan.NodeEmpty {
			continue
		}
		all++
		if after := p.After.Excess[g.ID]; after <= tiny {
			met++
		} else if after < g.Excess-tiny {
			improved++
		}
	}
	return all, met, improved
}

// countWorseWorkloads counts the workloads that the plan moves into a worse failure
// category. No goal forbids that unless a ZoneSpread strategy covers them.
func countWorseWorkloads(p plan.Plan) int {
	n, before := 0, map[string]int{}
	for _, w := range p.Before.Workloads {
		before[workloadName(w)] = w.FailureCategory
	}
	for _, w := range p.After.Workloads {
		if w.CategoryCertain && w.FailureCategory < before[workloadName(w)] {
			n++
		}
	}
	return n
}

// movesEffectText gives the numbers of goals that the evictions meet and improve.
func movesEffectText(evictions, met, improved, goals int) string {
	text, s := plural.Count(evictions, "eviction"), plural.Choose(evictions, "s", "")
	switch {
	case improved == 0:
		return fmt.Sprintf("%s meet%s %d of %d goals", text, s, met, goals)
	case met == 0:
		return fmt.Sprintf("%s improve%s %d of %d goals, 0 met", text, s, improved, goals)
	}
	return fmt.Sprintf("%s meet%s %d of %d goals and improve%s %d", text, s, met, goals, s, improved)
}

// nothingToDoText explains an empty plan. It distinguishes goals that are met, strategies that state no goals, and
// unmet goals of strategies that are not due.
func nothingToDoText(p plan.Plan) (text string, color layout.Style) {
	configured := len(p.Strategies)
	if p.Strategies = automaticStrategies(p); len(p.Strategies) == 0 && configured > 0 {
		return "nothing to do: no strategy is automatic", green
	}
	due, notDue, unmet := []string{}, []string{}, []string{}
	stated, dueGoals := 0, 0
	for _, st := range p.Strategies {
		stated += st.Goals
		if st.Due {
			dueGoals += st.Goals
			due = append(due, escape(st.Name))
			continue
		}
		if st.Goals > 0 {
			notDue = append(notDue, escape(st.Name))
		}
		if st.Unmet > 0 {
			unmet = append(unmet, unmetText(st))
		}
	}
	switch {
	case stated == 0 && noDataText(p, false) != "":
		return noDataText(p, false), yellow
	case len(p.Strategies) == 0:
		return noStrategiesText(p)
	case stated == 0 && noViolationText(p) != "":
		return noGoalsText(p)
	case stated == 0:
		return "nothing to do: no strategy states a goal", yellow
	case dueGoals == 0 && len(p.Strategies) < configured:
		text, color = "no automatic strategy that is due states a goal", yellow
	case dueGoals == 0:
		text, color = "no strategy that is due states a goal", yellow
	case len(notDue) > 0:
		text, color = allMetText(dueGoals, due...), green
	default:
		text, color = allMetText(dueGoals), green
	}
	if more := noViolationText(p); dueGoals == 0 && more != "" {
		text += "; " + more
	}
	if lacking := incompleteText(p); lacking != "" {
		text, color = text+lacking, yellow
	}
	if len(unmet) == 0 {
		return "nothing to do: " + text, color
	}
	return text + "; " + strings.Join(unmet, "; "), yellow
}

// incompleteText names the inputs that do not cover every node: of the other nodes, goals are unknown, not met.
func incompleteText(p plan.Plan) (text string) {
	for _, in := range p.Inputs {
		if in.Coverage < 1 && (in.Statistic != "" || in.Source == "nodes") {
			text += fmt.Sprintf("; %s covers %s of the nodes, and nothing is known of the others (below)", escape(in.Source), percent.Of(in.Coverage))
		}
	}
	return text
}

// noViolationText names the strategies about violations that found none. It returns "" if there are none.
func noViolationText(p plan.Plan) string {
	var names []string
	for _, st := range p.Strategies {
		if st.NoViolation {
			names = append(names, escape(st.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return plural.Choose(len(names), "strategy ", "strategies ") + strings.Join(names, ", ") + " found no violation"
}

// noGoalsText explains a plan without goals in which strategies found no violation. Other
// strategies lack what they need.
func noGoalsText(p plan.Plan) (text string, color layout.Style) {
	var others []string
	for _, st := range p.Strategies {
		if !st.NoViolation {
			others = append(others, escape(st.Name))
		}
	}
	text = "nothing to do: " + noViolationText(p)
	if len(others) == 0 {
		return text, green
	}
	return text + "; " + plural.Choose(len(others), "strategy ", "strategies ") + strings.Join(others, ", ") +
		plural.Choose(len(others), " states no goal", " state no goal"), yellow
}

// unmetText counts the unmet goals of a strategy that is not due.
func unmetText(st plan.StrategyState) string {
	return fmt.Sprintf("%s of %s %s not met, but the strategy is not due", plural.Count(st.Unmet, "goal"), escape(st.Name),
		plural.Choose(st.Unmet, "is", "are"))
}

// noStrategiesText explains a plan for a configuration without strategies. Such a configuration may still write
// pressure hints.
func noStrategiesText(p plan.Plan) (text string, color layout.Style) {
	missing := 0
	for _, h := range p.Pressure {
		if h.State == plan.HintToWrite {
			missing++
		}
	}
	if missing == 0 {
		return "nothing to do: no strategies are configured", yellow
	}
	return fmt.Sprintf("no strategies are configured; %s %s a pressure hint (below)",
		plural.Count(missing, "node"), plural.Choose(missing, "needs", "need")), yellow
}

func allMetText(n int, strategies ...string) string {
	of := ""
	if len(strategies) > 0 {
		of = " of " + strings.Join(strategies, ", ")
	}
	if n == 1 {
		return "the only goal" + of + " is met"
	}
	return fmt.Sprintf("all %d goals%s are met", n, of)
}
