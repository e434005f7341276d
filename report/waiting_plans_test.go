package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// waitingRun returns the report of approved steps that were resumed, with a plan that waits and one that cannot wait.
func waitingRun() plan.RunReport {
	r := liveRun()
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	r.Approval = &plan.Approval{By: "alice", At: at, WaitingPlan: "3f2a9c01d2e4b5a6", Attempt: 2}
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: "77aa9c01d2e4b5a6", Since: at, Expires: at.Add(24 * time.Hour),
		Strategies: map[string]int{"zones": 2, "hot": 1}, Announced: true}},
		Problem: &plan.Reason{Code: plan.ProposalTooLarge, Message: "too large"}}
	return r
}

// TestTheReportNamesWaitingPlans: the table says which plans wait, how to approve them, and which one was approved.
func TestTheReportNamesWaitingPlans(t *testing.T) {
	text := written(t, report.Run, report.Table, waitingRun())
	for _, want := range []string{
		"\nApproved by alice at 2026-01-02 00:00:00 UTC, as steps of the waiting plan 3f2a9c01d2e4b5a6. Attempt 2: an earlier process took",
		"\nPlan 77aa9c01d2e4b5a6 waits for approval until 2026-01-03 00:00:00 UTC: 3 steps (evenkeel approve 77aa9c01d2e4b5a6).\n",
		"\nNo new plan waits for approval: too large (ProposalTooLarge).\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestAProposalThatWasNotKept checks that no line says that a plan waits for approval if it could not be stored.
func TestAProposalThatWasNotKept(t *testing.T) {
	r := newRun(plan.Live, proposalsPlan())
	r.Plan.Moves = nil
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{}, Problem: &plan.Reason{Code: plan.ProposalTooLarge, Message: "too large"}}
	text := written(t, report.Run, report.Table, r)
	for _, want := range []string{
		"; 1 eviction needs approval, but could not be kept (below)",
		"\nNo new plan waits for approval: too large (ProposalTooLarge).\n",
		"\nNot kept for approval (strategy hot): 1 eviction meets 1 of 1 goals; lower bound 1; nobody can approve it (ProposalTooLarge).\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, wrong := range []string{"eviction waits for approval", "Waiting for approval", "before a person approves it", "77aa2a7be01d"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q in\n%s", wrong, text)
		}
	}
}
