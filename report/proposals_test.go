package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// proposalsPlan returns a plan of an automatic strategy, with a move that waits for approval, and a
// strategy whose mode is dryRun and that finds no move.
func proposalsPlan() plan.Plan {
	p := threeZonesPlan()
	p.Strategies = append(p.Strategies, plan.StrategyState{Name: "hot", Mode: plan.Approve, Goals: 3, Unmet: 1, Due: true},
		plan.StrategyState{Name: "strict", Mode: plan.ShowOnly, Goals: 3, Unmet: 1, Due: true})
	next := newPlan()
	next.ID, next.Strategies = "77aa2a7be01d44c0", p.Strategies[1:2]
	next.Goals = []plan.Goal{{ID: "g1", Strategy: "hot", Kind: plan.NodeBelow, Resource: "cpu", Limit: .85, Weight: 1, Excess: .05,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "n1"}}}
	m := newMove(1, "b-6f9c-x1", "n1", "n3")
	m.Strategy, m.Reason = "hot", plan.Reason{Code: plan.NodeOverUtilized,
		Message: "after the moves of automatic strategies, 90% of the cpu of n1 is requested, above 85%"}
	next.Moves, next.Bound = []plan.Move{m}, plan.Bound{MinEvictions: 1, MinForPlan: 1}
	next.Before, next.After = p.After, p.After
	next.Before.Excess, next.After.Excess = map[string]float64{"g1": .05}, map[string]float64{"g1": 0}
	shown := newPlan()
	shown.Strategies, shown.Goals, shown.Before, shown.After = p.Strategies[2:3], next.Goals, next.Before, next.Before
	p.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: next}, {Mode: plan.ShowOnly, Plan: shown}}
	return p
}

// TestProposalsAreCountedApart checks that the first line counts only the moves of automatic strategies as evictions.
func TestProposalsAreCountedApart(t *testing.T) {
	p := proposalsPlan()
	none := p
	none.Moves, none.Goals = nil, nil
	none.Strategies = p.Strategies[1:]
	notDue := none
	notDue.Strategies = append([]plan.StrategyState{{Name: "zones", Goals: 2}}, none.Strategies...)
	kept := none
	kept.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: p.Proposals[1].Plan}, p.Proposals[1]}
	both := p
	both.Proposals = []plan.Proposal{p.Proposals[0], {Mode: plan.ShowOnly, Plan: threeZonesPlan()}}
	for _, c := range []struct {
		p    plan.Plan
		want string
	}{
		{p, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2; 1 more eviction waits for approval; "},
		{both, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2; 1 more eviction waits for approval, " +
			"2 more evictions are only shown (mode dryRun); "},
		{none, "Plan: 1 eviction waits for approval; no strategy is automatic; "},
		{kept, "Plan: no evictions are proposed; 2 of 6 goals stay unmet (reasons below); no strategy is automatic; "},
		{notDue, "Plan: 1 eviction waits for approval; no automatic strategy that is due states a goal; "},
	} {
		if got := firstLine(t, c.p); !strings.HasPrefix(got, c.want) {
			t.Errorf("first line\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestNoStrategyIsAutomatic checks that the first line does not promise evictions that nobody has approved.
func TestNoStrategyIsAutomatic(t *testing.T) {
	p := proposalsPlan()
	p.Moves, p.Goals = nil, nil
	for _, c := range []struct {
		strategies []plan.StrategyState
		want       string
	}{
		{p.Strategies, "with this configuration `evenkeel run` evicts."},
		{p.Strategies[1:], "with this configuration `evenkeel run` evicts only what a person approves."},
		{p.Strategies[2:], "neither this command nor `evenkeel run` evicts."},
	} {
		p.Strategies = c.strategies
		if got := firstLine(t, p, report.Options{Evicts: true}); !strings.HasSuffix(got, c.want) {
			t.Errorf("first line\n%s\nwant the end\n%s", got, c.want)
		}
	}
}

// TestProposalsOfRuns checks the lines about a proposal in the reports of runs that evict and of dry runs.
func TestProposalsOfRuns(t *testing.T) {
	for mode, want := range map[plan.Mode]string{plan.Live: "; nothing is evicted before a person approves it.\n",
		plan.DryRun: "; dry run: nothing is evicted.\n"} {
		p := proposalsPlan()
		p.Moves = nil
		text := written(t, report.Run, report.Table, newRun(mode, p))
		if first := verdictOf(text); !strings.Contains(first, "; 1 eviction waits for approval") {
			t.Errorf("%s: the first line is %q", mode, first)
		}
		if line := "\nWaiting for approval (strategy hot): 1 eviction meets 1 of 1 goals; lower bound 1" + want; !strings.Contains(text, line) {
			t.Errorf("%s: the report lacks %q:\n%s", mode, line, text)
		}
	}
}

// TestApprovedStepsHaveNoGoals checks the line about approved steps, whose plan holds no goals.
func TestApprovedStepsHaveNoGoals(t *testing.T) {
	r := waitingRun()
	r.Plan.Goals, r.Plan.Moves = nil, r.Plan.Moves[:1]
	text := written(t, report.Run, report.Table, r)
	if want := "\nPlan: 1 approved eviction"; !strings.Contains(text, want) || strings.Contains(text, "0 of 0 goals") {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestOneIDOfAWaitingPlan checks that the report names only the waiting plan, and not the proposal with the same moves.
func TestOneIDOfAWaitingPlan(t *testing.T) {
	r := newRun(plan.Live, proposalsPlan())
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: "12cd9c01d2e4b5a6", Strategies: map[string]int{"hot": 1}}}}
	var b bytes.Buffer
	must.Succeed(t, report.Run(&b, report.Table, r))
	if text := b.String(); strings.Contains(text, "77aa2a7be01d") || !strings.Contains(text, "\nWaiting for approval (strategy hot): 1 eviction meets") {
		t.Errorf("the report does not name only 12cd9c01d2e4b5a6:\n%s", text)
	}
}

// TestWhatNobodyCanApprove checks proposals without moves, and those with untrusted predictions.
func TestWhatNobodyCanApprove(t *testing.T) {
	none, untrusted := proposalsPlan(), proposalsPlan()
	none.Proposals[0].Plan.Moves = nil
	untrusted.Schedulers = []plan.SchedulerState{{Name: "default-scheduler", Planned: true, Reason: "bindings seen 0"}}
	for want, p := range map[string]plan.Plan{
		"\nMode approve (strategy hot): no evictions; ":                                                               none,
		"; 1 more eviction would wait for approval if the predictions were trusted; ":                                 untrusted,
		"\nMode approve (strategy hot): 1 eviction meets 1 of 1 goals; lower bound 1; nobody can approve it, because": untrusted,
	} {
		var b bytes.Buffer
		must.Succeed(t, report.Plan(&b, report.Table, p, report.Options{Evicts: true}))
		if text := b.String(); !strings.Contains(text, want) || strings.Contains(text, "Waiting for approval") ||
			strings.Contains(text, "before a person approves it") {
			t.Errorf("no %q, or approval is possible, in\n%s", want, text)
		}
	}
}
