package installed

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestIncomplete checks the error for each outcome. Apply succeeds with at least one eviction, unless something
// stopped the plan. A plan without moves also succeeds.
func TestIncomplete(t *testing.T) {
	outcome := func(step int, kind plan.OutcomeKind) plan.Outcome {
		return plan.Outcome{Step: step, Pod: plan.PodRef{Namespace: "shop", Name: "d"}, Outcome: kind, Reason: plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}}
	}
	none := "no move of the plan was executed: step 1, pod shop/d: the pod is gone (PodGone); read the report, or make a new plan"
	paused := &plan.Reason{Code: plan.Paused, Message: "by alice"}
	for name, c := range map[string]struct {
		r    plan.RunReport
		want string
	}{
		"no moves":          {plan.RunReport{}, ""},
		"all":               {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.Evicted), outcome(2, plan.Evicted)}}, ""},
		"one of two":        {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.Dropped), outcome(2, plan.Evicted)}}, ""},
		"all gone":          {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.AlreadyGone), outcome(2, plan.AlreadyGone)}}, none},
		"blocked":           {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.Blocked)}}, none},
		"unknown outcome":   {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.UnknownOutcome)}}, ""},
		"stopped":           {plan.RunReport{Stopped: paused, Outcomes: []plan.Outcome{outcome(1, plan.Dropped)}}, "the plan stopped early: Paused: by alice"},
		"stopped after one": {plan.RunReport{Stopped: paused, Outcomes: []plan.Outcome{outcome(1, plan.Evicted)}}, "the plan stopped early: Paused: by alice"},
		"refused": {plan.RunReport{Stopped: &plan.Reason{Code: plan.PlanRefused, Message: "the plan expired"},
			Outcomes: []plan.Outcome{outcome(1, plan.Dropped)}}, "the plan was refused: the plan expired (PlanRefused)"},
	} {
		got := ""
		if err := Incomplete(c.r); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
