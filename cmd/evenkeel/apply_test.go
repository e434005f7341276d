package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/plan"
)

// fixedLeader leads, whatever happens.
type fixedLeader string

func (l fixedLeader) Leader(context.Context) (string, error) { return string(l), nil }

// TestAPlanIsTakenBackWhereNobodyLeadsAnyMore, and only there: somebody who took
// it may still be at it.
func TestAPlanIsTakenBackWhereNobodyLeadsAnyMore(t *testing.T) {
	client := fake.NewClientset()
	box := approval.New(client, "ops")
	f := &applyFlags{namespace: "ops", wait: time.Hour}
	r, err := f.submitToLeader(t.Context(), client, fixedLeader(""), plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
	if r != nil || err != nil {
		t.Errorf("report %v, error %v; want neither", r, err)
	}
	if r, err := box.Pending(t.Context()); r != nil || err != nil {
		t.Errorf("request %v (%v), want none", r, err)
	}
	if err := box.Submit(t.Context(), approval.Request{Plan: plan.Plan{ID: "q"}}); err != nil {
		t.Errorf("the next plan: %v", err)
	}
	taken, err := box.Pending(t.Context())
	if err != nil || taken == nil || box.Claim(t.Context(), taken) != nil {
		t.Fatalf("request %v (%v)", taken, err)
	}
	if back, err := box.Withdraw(t.Context(), "q"); back || err != nil {
		t.Errorf("taken back from under the leader (%v)", err)
	}
}

// TestWhenApplyFails: at least one eviction is success, unless something stopped
// the plan; a plan without moves has nothing to fail at.
func TestWhenApplyFails(t *testing.T) {
	outcome := func(step int, kind plan.OutcomeKind) plan.Outcome {
		return plan.Outcome{Step: step, Pod: plan.PodRef{Namespace: "shop", Name: "d"}, Outcome: kind, Reason: plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}}
	}
	none := "nothing of the plan was carried out: step 1, pod shop/d: the pod is gone (PodGone); see the report for every step, or make a new plan"
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
		"nobody knows":      {plan.RunReport{Outcomes: []plan.Outcome{outcome(1, plan.UnknownOutcome)}}, ""},
		"stopped":           {plan.RunReport{Stopped: paused, Outcomes: []plan.Outcome{outcome(1, plan.Dropped)}}, "the plan was not carried out to its end: Paused: by alice"},
		"stopped after one": {plan.RunReport{Stopped: paused, Outcomes: []plan.Outcome{outcome(1, plan.Evicted)}}, "the plan was not carried out to its end: Paused: by alice"},
	} {
		got := ""
		if err := incompleteError(c.r); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhoWaitsNoLongerIsToldThatThePlanStays: it may still be carried out, and
// whoever stops waiting must know how to prevent that.
func TestWhoWaitsNoLongerIsToldThatThePlanStays(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		wait time.Duration
		want string
	}{
		{"told to stop", stopped, time.Hour, "the plan stays handed over, and this was told to stop before its report came; it lies in ConfigMap ops/evenkeel-approval: delete that to withdraw it"},
		{"too late", t.Context(), time.Millisecond, "the plan stays handed over, and no report came within 1ms; it lies in ConfigMap ops/evenkeel-approval: delete that to withdraw it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := fake.NewClientset()
			f := &applyFlags{namespace: "ops", wait: c.wait}
			_, err := f.submitToLeader(c.ctx, client, fixedLeader("n1"), plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if r, err := approval.New(client, "ops").Pending(t.Context()); err != nil || r == nil || r.Plan.ID != "p" {
				t.Errorf("request %v (%v), want the plan still there", r, err)
			}
		})
	}
}

// TestTheExampleOfApplyIsWhatItWants: outside a pod nothing stands for the namespace, so
// the help shows no default, and its example gives one.
func TestTheExampleOfApplyIsWhatItWants(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	c := newApply(&globalFlags{})
	if f := c.Flags().Lookup("lease-namespace"); f.DefValue != "" || !strings.Contains(c.Example, "evenkeel apply plan.json --lease-namespace ") {
		t.Errorf("default %q, example %s", f.DefValue, c.Example)
	}
	t.Setenv("POD_NAMESPACE", "ops")
	if f := newApply(&globalFlags{}).Flags().Lookup("lease-namespace"); f.DefValue != "ops" {
		t.Errorf("in a pod: default %q", f.DefValue)
	}
}
