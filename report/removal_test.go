package report

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestDestinationOfRemovals checks what the table of moves says about a pod that has ended, and about a move without a
// predicted place.
func TestDestinationOfRemovals(t *testing.T) {
	if got := destinationText(plan.Move{Removal: plan.ByDeletion}); got != "removed by deletion" {
		t.Errorf("the destination is %q", got)
	}
	placeless := plan.Move{From: "n1", Landing: plan.LandingNotRequired}
	if got := destinationText(placeless); got != "no place predicted" {
		t.Errorf("the destination is %q", got)
	}
	if got := nodesWithMovesOrGoals(plan.Plan{Moves: []plan.Move{placeless}}); len(got) != 1 {
		t.Errorf("the nodes are %v", got)
	}
	waiting := plan.PodExplanation{Move: &placeless, Verdict: plan.Reason{Code: plan.PodExpired, Message: "it is old"}}
	if got := verdictText(waiting); got != "would be moved without a predicted place: it is old (PodExpired)" {
		t.Errorf("the verdict is %q", got)
	}
	p := plan.PodExplanation{Move: &plan.Move{Removal: plan.ByEviction}, Verdict: plan.Reason{Code: plan.PodFailed, Message: "it failed"}}
	if got, want := verdictText(p), "has ended and would be removed by eviction: it failed (PodFailed)"; got != want {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
}
