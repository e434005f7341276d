package controller

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A move has room if its own displaced move made room, or need not leave, whatever happened to the other steps.
func TestRoomDependsOnlyOnTheDisplacedMoveOfTheStep(t *testing.T) {
	p := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "p", UID: "p"}, Step: 3, Wave: 2}
	q := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "q", UID: "q"}, From: "n2", Step: 2, Wave: 1, DisplacedFor: &p.Pod}
	other := plan.Outcome{Step: 1, Outcome: plan.Evicted, LandedAsPredicted: true}
	for _, c := range []struct {
		what string
		of   plan.Outcome
		says string
	}{
		{"made room", plan.Outcome{Outcome: plan.Evicted, LandedAsPredicted: true}, ""},
		{"need not leave", plan.Outcome{Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.NotNeeded}}, ""},
		{"dropped", plan.Outcome{Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.PremiseChanged}},
			"shop/q was to make room for it on n2, but did not: dropped (PremiseChanged)"},
		{"not tried", plan.Outcome{}, "shop/q was to make room for it on n2, but was not tried"},
	} {
		if c.of.Outcome != "" {
			c.of.Step = q.Step
		}
		if got := roomProblem([]plan.Move{q, p}, []plan.Outcome{other, c.of}, p); got != c.says {
			t.Errorf("%s: got %q, want %q", c.what, got, c.says)
		}
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
