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

// TestGoalsAboutPods checks what the tables say about goals that a pod is replaced, removed or moved.
func TestGoalsAboutPods(t *testing.T) {
	of := func(name string) plan.Goal {
		return plan.Goal{Kind: plan.PodAway, Strategy: "s", From: "n1", Excess: 1,
			Subject: plan.ObjectRef{Kind: "Pod", Namespace: "shop", Name: name}}
	}
	away, replaced, removed := of("a"), of("b"), of("c")
	replaced.MayReturn, removed.MayReturn, removed.Removal = true, true, plan.ByDeletion
	for want, g := range map[string]plan.Goal{"Pod/shop/a away from n1, 1 pod to move": away,
		"Pod/shop/b replaced, 1 pod to replace": replaced, "Pod/shop/c removed, 1 pod to remove": removed} {
		if got := goalText(g) + ", " + excessText(g, 1); got != want {
			t.Errorf("the goal is %q, want %q", got, want)
		}
	}
	away.Strategy = "other"
	for want, goals := range map[string][]plan.Goal{"replaced": {replaced, away}, "removed": {removed, removed},
		"replaced or removed": {replaced, removed}} {
		if got := wordsOfStrategy(plan.Plan{Goals: goals}, goals[0]).done; got != want {
			t.Errorf("the goals are %q, want %q", got, want)
		}
	}
}
