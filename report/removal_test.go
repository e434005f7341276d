package report

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestDestinationOfRemovals checks what the table of moves says about a pod that has ended.
func TestDestinationOfRemovals(t *testing.T) {
	if got := destinationText(plan.Move{Removal: plan.ByDeletion}); got != "removed by deletion" {
		t.Errorf("the destination is %q", got)
	}
	p := plan.PodExplanation{Move: &plan.Move{Removal: plan.ByEviction}, Verdict: plan.Reason{Code: plan.PodFailed, Message: "it failed"}}
	if got, want := verdictText(p), "has ended and would be removed by eviction: it failed (PodFailed)"; got != want {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
}
