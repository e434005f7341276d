package installed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// fixedLease always says the same about its holder.
type fixedLease leader.Status

func (l fixedLease) Status(context.Context) (leader.Status, error) { return leader.Status(l), nil }

// TestAwait checks for what a command waits after it has approved both steps of a plan.
func TestAwait(t *testing.T) {
	held, off := fixedLease{Holder: "n1"}, fixedLease{Holder: "n1", ApprovalsOff: true}
	approved, evicted := v1alpha1.StepStatus{Step: 1, State: v1alpha1.StepApproved}, v1alpha1.StepStatus{Step: 1, State: v1alpha1.StepEvicted}
	dropped := v1alpha1.StepStatus{Step: 2, State: v1alpha1.StepDropped}
	for name, c := range map[string]struct {
		status    v1alpha1.RebalancePlanStatus
		lease     fixedLease
		outcomes  int
		want      string
		withdrawn bool
	}{
		"done":                       {status: v1alpha1.RebalancePlanStatus{ObservedGeneration: 2, Steps: []v1alpha1.StepStatus{evicted, dropped}}, lease: held, outcomes: 2},
		"outcomes of before":         {status: v1alpha1.RebalancePlanStatus{ObservedGeneration: 1, Steps: []v1alpha1.StepStatus{dropped}}, lease: held, want: "late"},
		"not executed yet":           {status: v1alpha1.RebalancePlanStatus{ObservedGeneration: 2, Steps: []v1alpha1.StepStatus{approved, dropped}}, lease: held, want: "late"},
		"executed now":               {status: v1alpha1.RebalancePlanStatus{ObservedGeneration: 2, Phase: v1alpha1.PhaseRunning}, lease: off, want: "late"},
		"it expires":                 {status: v1alpha1.RebalancePlanStatus{Closed: true, Phase: v1alpha1.PhaseExpired, Message: "it expired", Steps: []v1alpha1.StepStatus{approved}}, lease: held, want: "nothing was evicted: the steps are not approved any more; plan p has the phase Expired: it expired"},
		"another decision":           {status: v1alpha1.RebalancePlanStatus{ObservedGeneration: 3, Phase: v1alpha1.PhaseWaiting}, lease: held, want: "nothing was evicted: the steps are not approved any more; plan p has the phase Waiting: somebody has changed the decision"},
		"approvals are switched off": {lease: off, want: "nothing was evicted: n1 holds the Lease in namespace ops with approvals.enabled: false, so it executes no approved plan; the approval was withdrawn", withdrawn: true},
		"nobody leads":               {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := objectstest.New(clock.RealClock{})
				plans := waiting.New(client)
				spec := v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeApprove, Expires: metav1.NewTime(time.Now().Add(time.Hour)),
					Moves: []v1alpha1.Move{{Step: 1, Pod: v1alpha1.PodReference{UID: "a"}}, {Step: 2, Pod: v1alpha1.PodReference{UID: "b"}}}}
				must.Get(plans.Submit(t.Context(), &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: spec}))(t)
				done := must.Get(plans.Decide(t.Context(), "p", waiting.ToApprove, waiting.StepSelection{}, "alice", time.Now()))(t)
				o := v1alpha1.DeepCopy(done.Plan.Object())
				o.Status = c.status
				must.Get(client.Plans.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s := &Submission{Plans: plans, Lease: c.lease, Namespace: "ops", Plan: "p", Steps: done.Steps, Generation: o.Generation, By: "alice",
					NeedsHolder: true, NotDone: "nothing was evicted", Late: func() error { return errors.New("late") }}
				r, err := s.Await(ctx)
				if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) || r == nil && c.outcomes > 0 || r != nil && len(r.Outcomes) != c.outcomes {
					t.Errorf("report %+v, error %v, want %d outcomes and %q", r, err, c.outcomes, c.want)
				}
				if o = must.Get(plans.Get(t.Context(), "p"))(t); (o.Decision.Approve == nil) != c.withdrawn {
					t.Errorf("the decision is %+v", o.Decision)
				}
			})
		})
	}
}

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
