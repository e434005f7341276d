package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// maxHints is the number of nodes with a pressure hint that the page lists.
const maxHints = 200

func (r *Report) makeInputs() Section {
	p := r.plan
	s := Section{ID: "inputs", Title: "Inputs"}
	lead := "Nothing is known about the cluster. "
	if sizes := r.sizes(); sizes != "" {
		lead = fmt.Sprintf("%s, %s, as of %s. ", sizes, count(len(r.workloads)+r.omitted.Workloads, "workload"), moment(p.TakenAt))
	}
	if v := p.Cluster.Version; v != "" {
		lead += "Predictions use the scheduler of Kubernetes " + v + "."
	} else {
		lead += "The Kubernetes version is unknown."
	}
	if len(p.Inputs) == 1 && p.Inputs[0].Source == "requests" {
		lead += " Load is what pods request; nothing is measured."
	}
	s.Lead = text(lead)
	if len(p.Inputs) == 0 {
		s.Notes = append(s.Notes, text("The plan does not say what it was made from."))
	} else {
		s.Tables = append(s.Tables, inputTable(p.Inputs))
	}
	if len(p.Schedulers) > 0 {
		s.Tables = append(s.Tables, schedulerTable(p.Schedulers))
	}
	if text := plan.OtherDeschedulersText(p.OtherDeschedulers, true); text != "" {
		s.Notes = append(s.Notes, answers.Text{{Text: text}})
	}
	if hints := p.Pressure; len(hints) > 0 {
		shown := hints[:min(len(hints), maxHints)]
		s.Details = append(s.Details, Details{Summary: count(len(hints), "node") + " that pressure hints are about", Tables: []Table{hintTable(shown, len(hints))}})
	}
	return s
}

func inputTable(inputs []plan.Input) Table {
	t := Table{Caption: text("What the plan was made from"), Class: "fit", Heads: heads("Source", ">Age", ">Nodes covered", "Problems")}
	for _, in := range inputs {
		source := in.Source
		if in.Statistic != "" {
			source += ", " + in.Statistic
		}
		problems := "none"
		if len(in.Problems) > 0 {
			problems = strings.Join(in.Problems, "; ")
		}
		t.Rows = append(t.Rows, []Cell{{Text: source, Row: true}, numberCell(in.Age), numberCell(percentOf(in.Coverage)), textCell(problems)})
	}
	return t
}

func schedulerTable(all []plan.SchedulerState) Table {
	t := Table{Caption: text("Schedulers: how well their bindings were predicted"), Class: "fit", Heads: heads("Scheduler", ">Pods", ">Correct", "Trust", "Why")}
	for _, s := range all {
		trust := "not trusted"
		if s.Trusted {
			trust = "trusted"
		}
		t.Rows = append(t.Rows, []Cell{rowCell(s.Name), countCell(s.Pods), numberCell(number(s.Hits) + " of " + number(s.Predicted)), textCell(trust), whyCell(s.Reason, "")})
	}
	return t
}

// hintStates say in words what the state of a pressure hint is.
var hintStates = map[plan.HintState]string{
	plan.HintPresent: "has a hint", plan.HintToWrite: "would get a hint", plan.HintToRemove: "would lose its hint", plan.HintExpired: "the hint has expired",
	plan.HintMissing: "the hint is missing on the node", plan.HintInvalidRecord: "the record of the hint cannot be read",
	plan.HintForeign: "another program or person has set the hint", plan.HintAwaitingSamples: "waits for more samples",
	plan.HintLimitReached: "has no hint, because hotter nodes use up the limit",
}

func hintTable(hints []plan.PressureHint, all int) Table {
	t := Table{Caption: text(partCaption("Pressure hints keep new pods off a node", len(hints), all)), Class: "sortable fit", Heads: heads("Node", "Hint", "Rule", ">Value")}
	for _, h := range hints {
		value := ""
		if h.Rule != "" {
			value = significant(h.Value)
		}
		t.Rows = append(t.Rows, []Cell{rowCell(h.Node), textCell(hintStates[h.State]), textCell(strings.Join(append([]string{h.Rule}, h.OtherRules...), ", ")), numberCell(value)})
	}
	return t
}

func (r *Report) makeConfig() Section {
	p := r.plan
	s := Section{ID: "config", Title: "Strategies and configuration", Config: r.view.Config, Hash: p.ConfigHash}
	if len(p.Strategies) == 0 {
		s.Lead = text("No strategy is enabled.")
		return s
	}
	goals := 0
	for _, st := range p.Strategies {
		goals += st.Goals - st.NodesToEmpty
	}
	noun := "strategies state"
	if len(p.Strategies) == 1 {
		noun = "strategy states"
	}
	s.Lead = text(fmt.Sprintf("%s %s %s; the configuration decides what may move.", number(len(p.Strategies)), noun, count(goals, "goal")))
	s.Tables = []Table{r.strategyTable()}
	return s
}

func (r *Report) strategyTable() Table {
	p := r.plan
	modes := slices.ContainsFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Mode != "" })
	t := Table{Caption: text("Strategies"), Class: "fit", Heads: heads("Strategy", ">Goals", ">Unmet, now → after", ">Evictions")}
	if modes {
		t.Heads = addHeads(t.Heads, "Mode")
	}
	t.Heads = addHeads(t.Heads, "State")
	for _, st := range p.Strategies {
		of := p
		if i := slices.IndexFunc(p.Proposals, func(x plan.Proposal) bool { return st.Mode != "" && x.Mode == st.Mode }); i >= 0 {
			of = &p.Proposals[i].Plan
		}
		unmet := changeCell(number(st.Unmet), number(unmetAfter(of, st)))
		if r.omitted.Goals > 0 {
			unmet = countCell(st.Unmet) // the stored plan does not list all goals
		}
		row := []Cell{rowCell(st.Name), countCell(st.Goals), unmet, countCell(evictionsOf(of, st.Name))}
		if modes {
			row = append(row, textCell(modeWords(st.Mode)))
		}
		t.Rows = append(t.Rows, append(row, textCell(stateWords(st))))
	}
	return t
}

// unmetAfter counts the goals of a strategy that stay unmet. If the plan does not list the unmet goals, none is met.
func unmetAfter(p *plan.Plan, st plan.StrategyState) int {
	n, counted := st.Unmet, map[string]bool{}
	for _, c := range p.PodGoals {
		if c.Strategy == st.Name {
			n, counted[string(plan.PodAway)] = n-c.Unmet+c.UnmetAfter, true
		}
	}
	for _, c := range p.OmittedGoals {
		if c.Strategy == st.Name {
			n += c.UnmetAfter - c.Unmet
		}
	}
	for i := range p.Goals {
		g := &p.Goals[i]
		if g.Strategy == st.Name && !counted[string(g.Kind)] && p.After.Excess[g.ID] <= tiny {
			n--
		}
	}
	return n
}

func evictionsOf(p *plan.Plan, strategy string) (n int) {
	for i := range p.Moves {
		if p.Moves[i].Strategy == strategy {
			n++
		}
	}
	return n
}

func modeWords(m plan.StrategyMode) string {
	switch m {
	case plan.Approve:
		return "approve"
	case plan.ShowOnly:
		return "only shown"
	}
	return "automatic"
}

func stateWords(st plan.StrategyState) string {
	var words []string
	switch {
	case st.NoData != "":
		words = append(words, "no usage data: "+st.NoData)
	case st.NothingInScope != "":
		words = append(words, st.NothingInScope)
	case st.NoViolation:
		words = append(words, "found no violation")
	case st.Goals > 0 && !st.Due:
		words = append(words, "not due: its goals are kept from getting worse")
	default:
		words = append(words, "due")
	}
	if st.NoPodSelected != "" {
		words = append(words, st.NoPodSelected)
	}
	if st.WaitingNodes > 0 {
		wait := count(st.WaitingNodes, "node") + " " + verb(st.WaitingNodes, "waits", "wait")
		if st.WaitReason != "" {
			wait += ": " + st.WaitReason
		}
		words = append(words, wait)
	}
	return strings.Join(words, "; ")
}
