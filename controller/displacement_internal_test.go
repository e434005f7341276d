package controller

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If the displaced move was not tried, it made no room for the other move of the step.
func TestNoRoomIfTheDisplacedMoveWasNotTried(t *testing.T) {
	p := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "p", UID: "p"}, Step: 2, Wave: 2}
	q := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "q", UID: "q"}, From: "n2", Step: 1, Wave: 1, DisplacedFor: &p.Pod}
	ready, dropped := splitByRoom([]plan.Move{q, p}, nil, []plan.Move{p})
	if len(ready) != 0 || len(dropped) != 1 || dropped[0].Reason.Code != plan.PremiseChanged ||
		dropped[0].Reason.Message != "shop/q was to make room for it on n2, but was not tried" {
		t.Errorf("ready %+v, dropped %+v", ready, dropped)
	}
}

// A saved plan is malformed if a displaced move makes room for no later move. The controller
// refuses to execute malformed plans.
func TestAPlanWithHalfAStepIsMalformed(t *testing.T) {
	p := plan.PodRef{Namespace: "shop", Name: "p", UID: "p"}
	q := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "q", UID: "q"}, Step: 1, Wave: 1, DisplacedFor: &p}
	for _, c := range []struct {
		what  string
		moves []plan.Move
		bad   string
	}{
		{"whole", []plan.Move{q, {Pod: p, Step: 2, Wave: 2}}, ""},
		{"half", []plan.Move{q}, "step 1 makes room for shop/p, but no later wave moves that pod"},
		{"at once", []plan.Move{q, {Pod: p, Step: 2, Wave: 1}}, "step 1 makes room for shop/p, but no later wave moves that pod"},
	} {
		if got := movesProblem(c.moves); got != c.bad {
			t.Errorf("%s: got %q, want %q", c.what, got, c.bad)
		}
	}
}
