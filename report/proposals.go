package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// writeProposals writes the moves that passes do not execute: those that wait for approval, and those that are only
// shown.
func (t *planTable) writeProposals(p plan.Plan) {
	untrusted := untrustedText(p) != ""
	defer func(was planRole) { t.out.plan = was }(t.out.plan)
	for _, of := range p.Proposals {
		t.out.plan = proposedPlan
		shown := of.Plan
		of.Plan = *shown.Whole()
		sub := of.Plan
		sub.Schedulers = nil // the first line of the plan names the untrusted ones
		sub.Strategies = slices.Clone(sub.Strategies)
		for i := range sub.Strategies {
			sub.Strategies[i].Mode = "" // the verdict is about these strategies
			// The lines below the first one name the selectors.
			sub.Strategies[i].NothingInScope, sub.Strategies[i].NoPodSelected = "", ""
		}
		t.out.addLine("")
		t.writeVerdict(sub, t.proposalSubject(of, untrusted), t.proposalEffect(of, untrusted))
		t.writeGoalsUnder("Goals not met after the moves of automatic strategies", shown)
		t.writeMoves(shown)
		t.writeRejections(shown)
	}
}

// proposalSubject names the mode and the strategies. It names no ID: a person approves the waiting plan, which has
// another one.
func (t *planTable) proposalSubject(of plan.Proposal, untrusted bool) string {
	var names []string
	for _, st := range of.Plan.Strategies {
		names = append(names, escape(st.Name))
	}
	strategies := plural.Choose(len(names), "strategy ", "strategies ") + strings.Join(names, ", ")
	switch {
	case of.Mode != plan.Approve:
		return "Only shown (" + strategies + ")"
	case len(of.Plan.Moves) == 0 || untrusted:
		return "Mode approve (" + strategies + ")"
	case t.notKept != "":
		return "Not kept for approval (" + strategies + ")"
	}
	return "Waiting for approval (" + strategies + ")"
}

// proposalEffect describes whether anybody can have the moves of a proposal executed.
func (t *planTable) proposalEffect(of plan.Proposal, untrusted bool) string {
	switch {
	case t.dryRun:
		return "dry run: nothing is evicted"
	case of.Mode != plan.Approve:
		return "mode dryRun: nothing is evicted"
	case len(of.Plan.Moves) == 0:
		return ""
	case untrusted:
		return "nobody can approve it, because the predictions are untrusted"
	case t.notKept != "":
		return "nobody can approve it (" + escape(string(t.notKept)) + ")"
	}
	return "nothing is evicted before a person approves it"
}

// proposedText counts the moves of the proposals. It returns "" if there are none.
func (t *planTable) proposedText(p plan.Plan) string {
	var out []string
	for _, of := range p.Proposals {
		n := len(of.Plan.Moves)
		if n == 0 {
			continue
		}
		what := plural.Count(n, "eviction")
		if len(p.Moves) > 0 {
			what = plural.Count(n, "more eviction")
		}
		if of.Mode == plan.Approve && untrustedText(p) != "" {
			out = append(out, what+" would wait for approval if the predictions were trusted")
			continue
		}
		if of.Mode == plan.Approve && t.notKept != "" {
			out = append(out, fmt.Sprintf("%s %s approval, but could not be kept (below)", what, plural.Choose(n, "needs", "need")))
			continue
		}
		if of.Mode == plan.Approve {
			out = append(out, fmt.Sprintf("%s %s for approval", what, plural.Choose(n, "waits", "wait")))
			continue
		}
		out = append(out, fmt.Sprintf("%s %s only shown (mode dryRun)", what, plural.Choose(n, "is", "are")))
	}
	return strings.Join(out, ", ")
}

// automaticStrategies returns the strategies whose moves are in the plan itself.
func automaticStrategies(p plan.Plan) []plan.StrategyState {
	return slices.DeleteFunc(slices.Clone(p.Strategies), func(st plan.StrategyState) bool { return st.Mode != "" })
}

// strategyText names the strategy of a goal, and its mode if passes do not execute its moves.
func strategyText(v plan.GoalStatus) string {
	if v.Mode == "" {
		return escape(v.Goal.Strategy)
	}
	return escape(v.Goal.Strategy) + " (mode " + escape(string(v.Mode)) + ")"
}

// writeProposedMoves writes the moves of a pod in the proposals.
func (t explainTable) writeProposedMoves(moves []plan.ProposedMove) {
	for _, of := range moves {
		t.out.addText(yellow, "It "+proposedMoveText(of)+".")
	}
}

// proposedMoveText continues a sentence about the pod: what a proposal does with it, and who decides.
func proposedMoveText(of plan.ProposedMove) string {
	m, decides := of.Move, "if a person approves"
	if of.Mode != plan.Approve {
		decides = "for a strategy in mode dryRun, which only shows its moves"
	}
	what := "moved to " + escape(m.To)
	switch {
	case m.WithoutPlace():
		what = "moved without a predicted place"
	case m.Removal != "":
		what = "removed by " + escape(string(m.Removal))
	}
	return fmt.Sprintf("would be %s in step %d, wave %d, %s: %s", what, m.Step, m.Wave, decides, reasonText(m.Reason))
}

// unmetProposedText counts the unmet goals of due strategies whose moves passes do not execute by themselves.
func unmetProposedText(p plan.Plan) string {
	goals, unmet := 0, 0
	for _, st := range p.Strategies {
		if st.Mode != "" && st.Due {
			goals, unmet = goals+st.Goals, unmet+st.Unmet
		}
	}
	if unmet == 0 {
		return ""
	}
	return fmt.Sprintf("no evictions are proposed; %d of %d goals stay unmet (reasons below)", unmet, goals)
}
