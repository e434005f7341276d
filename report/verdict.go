package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// verdict is the one line that a hurried reader needs.
func (t *table) verdict(p plan.Plan, subject, effect string) {
	met, nearer := reached(p)
	color, text := green, ""
	switch {
	case len(p.Goals) == 0 && len(p.Moves) == 0 && waiting(p.Strategies) != "":
		text, color = "nothing to do yet: "+waiting(p.Strategies), yellow
	case len(p.Goals) == 0 && len(p.Moves) == 0:
		text, color = nothingToDo(p)
	case len(p.Moves) == 0:
		color = yellow
		text = fmt.Sprintf("0 evictions; %d of %d goals stay unmet, for the reasons below", len(p.Goals)-met, len(p.Goals))
	default:
		if met < len(p.Goals) {
			color = yellow
		}
		text = fmt.Sprintf("%s %s; proven minimum %d", count(len(p.Moves), "eviction"), brings(len(p.Moves), met, nearer, len(p.Goals)), p.Bound.MinForPlan)
	}
	if more := waiting(p.Strategies); more != "" && len(p.Goals)+len(p.Moves) > 0 {
		text, color = text+"; not asked for yet: "+more, yellow
	}
	if more := unknown(p, true); more != "" && slices.ContainsFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Goals > 0 }) {
		text, color = text+"; "+more, yellow
	}
	if n := worseOff(p); n > 0 {
		text, color = fmt.Sprintf("%s; %s would be hit harder by the loss of a zone than now (below)", text, count(n, "workload")), yellow
	}
	if held(p) != "" {
		color = yellow
	}
	if p.SearchLimitReached != "" {
		text, color = text+"; the search was cut short", yellow
	}
	if effect != "" {
		text += "; " + effect
	}
	t.line("%s", t.paint(color, subject+": "+text+"."))
}

// waiting says which nodes are too full and have not been for long enough, by
// strategy; empty when there are none.
func waiting(all []plan.StrategyState) string {
	var out []string
	for _, st := range all {
		if st.WaitingNodes == 0 {
			continue
		}
		why := safe(st.WaitReason)
		if why == "" {
			why = "above its target, and not for long enough or not for certain"
		}
		is := " is "
		if st.WaitingNodes > 1 {
			is, why = " are ", strings.Replace(why, "its target", "their targets", 1)
		}
		out = append(out, count(st.WaitingNodes, "node")+is+why+" ("+safe(st.Name)+")")
	}
	return strings.Join(out, ", ")
}

// unknown says what is not known of that strategies and hints go by, with their names;
// empty when there is no such strategy, and hints know enough.
func unknown(p plan.Plan, named bool) string {
	var out []string
	for _, st := range p.Strategies {
		if st.NoData == "" {
			continue
		}
		why := safe(st.NoData) + " (below)"
		if named {
			why = "of " + safe(st.Name) + " " + why
		}
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if why := safe(p.HintsNoData) + " (below)"; p.HintsNoData != "" && !slices.Contains(out, why) {
		out = append(out, "of hints "+why)
	}
	return strings.Join(out, "; ")
}

// reached counts the goals that the plan meets, and those that it brings nearer
// without meeting them.
func reached(p plan.Plan) (met, nearer int) {
	for _, g := range p.Goals {
		switch after := p.After.Excess[g.ID]; {
		case after <= tiny:
			met++
		case after < g.Excess-tiny:
			nearer++
		}
	}
	return met, nearer
}

// worseOff counts the workloads that a plan leaves in a worse failure category, which
// no goal forbids where no ZoneSpread strategy is about them.
func worseOff(p plan.Plan) int {
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

// brings says in words what evictions do for goals.
func brings(evictions, met, nearer, goals int) string {
	s := ""
	if evictions == 1 {
		s = "s"
	}
	switch {
	case nearer == 0:
		return fmt.Sprintf("level%s %d of %d goals", s, met, goals)
	case met == 0:
		return fmt.Sprintf("bring%s %d of %d goals nearer, 0 met", s, nearer, goals)
	}
	return fmt.Sprintf("level%s %d of %d goals and bring%s %d nearer", s, met, goals, s, nearer)
}

// nothingToDo tells goals that are met from goals that nobody states, and from
// goals that are not met but were not asked for, or whose strategy is held.
func nothingToDo(p plan.Plan) (text, color string) {
	all, holds := p.Strategies, p.Blocks
	asked, unasked := []string{}, []string{}
	stated, goals, open := 0, 0, []string{}
	for _, st := range all {
		stated += st.Goals
		if st.Due {
			goals += st.Goals
			asked = append(asked, safe(st.Name))
			continue
		}
		if st.Goals > 0 {
			unasked = append(unasked, safe(st.Name))
		}
		if st.Unmet > 0 {
			is, why := "is", was(st.Unmet)+" not asked for"
			if st.Unmet > 1 {
				is = "are"
			}
			if slices.ContainsFunc(holds, func(h plan.EvictionBlock) bool { return h.Strategy == st.Name }) {
				why = "the strategy is held"
			}
			open = append(open, fmt.Sprintf("%s of %s %s not, and %s", count(st.Unmet, "goal"), safe(st.Name), is, why))
		}
	}
	switch {
	case stated == 0 && unknown(p, false) != "":
		return unknown(p, false), yellow
	case len(all) == 0:
		return noStrategies(p)
	case stated == 0:
		return "nothing to do: no strategy states a goal", yellow
	case goals == 0:
		text, color = "no strategy that was asked for states a goal", yellow
	default:
		text, color = allMet(goals), green
		if len(unasked) > 0 {
			text = allMet(goals, asked...)
		}
	}
	if len(open) == 0 {
		return "nothing to do: " + text, color
	}
	if goals == 0 {
		open[0] = strings.Replace(open[0], " not, and", " not met, and", 1)
	}
	return text + "; " + strings.Join(open, "; "), yellow
}

// noStrategies: without any, a configuration may well hint nodes.
func noStrategies(p plan.Plan) (text, color string) {
	wanted := 0
	for _, h := range p.Pressure {
		if h.State == plan.HintToWrite {
			wanted++
		}
	}
	if wanted == 0 {
		return "nothing to do: there are no strategies", yellow
	}
	is := "is"
	if wanted > 1 {
		is = "are"
	}
	return fmt.Sprintf("there are no strategies; %s %s to carry a pressure hint (below)", count(wanted, "node"), is), yellow
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func allMet(n int, of ...string) string {
	whose := ""
	if len(of) > 0 {
		whose = " of " + strings.Join(of, ", ")
	}
	if n == 1 {
		return "the one goal" + whose + " is met"
	}
	return fmt.Sprintf("all %d goals%s are met", n, whose)
}
