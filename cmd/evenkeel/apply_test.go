package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/plan"
)

// fixedLeader always reports the same holder of the Lease. The empty string means that no process holds it.
type fixedLeader string

func (l fixedLeader) Status(context.Context) (leader.Status, error) {
	return leader.Status{Holder: string(l)}, nil
}

// leaderWithoutApprovals holds the Lease and executes no approved plans.
type leaderWithoutApprovals string

func (l leaderWithoutApprovals) Status(context.Context) (leader.Status, error) {
	return leader.Status{Holder: string(l), ApprovalsOff: true}, nil
}

// TestApplyWithdrawsPlanIfApprovalsAreOff checks that apply does not wait for a leader whose new configuration switched
// approvals off, and withdraws its plan, unless the leader has claimed the plan before.
func TestApplyWithdrawsPlanIfApprovalsAreOff(t *testing.T) {
	client := fake.NewClientset()
	box := approval.New(client, "ops")
	f := &applyFlags{namespace: "ops", wait: time.Hour}
	_, err := f.submitToLeader(t.Context(), client, leaderWithoutApprovals("n1"), plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
	const want = "nothing was evicted: n1 holds the Lease in namespace ops with approvals.enabled: false, so it executes no approved plan; " +
		"the approval was withdrawn"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if r, err := box.Pending(t.Context()); r != nil || err != nil {
		t.Errorf("request %v (%v), want none", r, err)
	}
}

// TestApplyWithdrawsPlanWithoutLeader checks that apply withdraws its plan if no process holds the Lease.
// Apply must not withdraw a plan that a leader has claimed, because the leader may still execute that plan.
func TestApplyWithdrawsPlanWithoutLeader(t *testing.T) {
	client := fake.NewClientset()
	box := approval.New(client, "ops")
	f := &applyFlags{namespace: "ops", wait: time.Hour}
	r, err := f.submitToLeader(t.Context(), client, fixedLeader(""), plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
	if r != nil || err != nil {
		t.Errorf("report %v, error %v; want nil for both", r, err)
	}
	if r, err := box.Pending(t.Context()); r != nil || err != nil {
		t.Errorf("request %v (%v), want none", r, err)
	}
	if err := box.Submit(t.Context(), approval.Request{Plan: plan.Plan{ID: "q"}}); err != nil {
		t.Errorf("submitting the next plan: %v", err)
	}
	taken, err := box.Pending(t.Context())
	if err != nil || taken == nil || box.Claim(t.Context(), taken, "node-1") != nil {
		t.Fatalf("request %v (%v)", taken, err)
	}
	if back, err := box.Withdraw(t.Context(), "q"); back || err != nil {
		t.Errorf("withdrew a plan that the leader has claimed (%v)", err)
	}
}

// TestStoppedApplySaysThatPlanStays checks that the error names the ConfigMap of the submitted plan. The
// leader may still execute the plan, so users must know how to withdraw it.
func TestStoppedApplySaysThatPlanStays(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		wait time.Duration
		want string
	}{
		{"stopped", stopped, time.Hour, "this command was stopped before the report arrived; the plan stays submitted: to withdraw it, delete ConfigMap ops/evenkeel-approval"},
		{"too late", t.Context(), time.Millisecond, "no report arrived within 1ms; the plan stays submitted: to withdraw it, delete ConfigMap ops/evenkeel-approval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := fake.NewClientset()
			f := &applyFlags{namespace: "ops", wait: c.wait}
			_, err := f.submitToLeader(c.ctx, client, fixedLeader("n1"), plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if r, err := approval.New(client, "ops").Pending(t.Context()); err != nil || r == nil || r.Plan.ID != "p" {
				t.Errorf("request %v (%v), want the submitted plan", r, err)
			}
		})
	}
}

// TestReleaseFlagDefault checks that commands in a pod use the release of the pod, and that others find the release.
func TestReleaseFlagDefault(t *testing.T) {
	for _, namespace := range []string{"", "ops"} {
		t.Setenv("POD_NAMESPACE", namespace)
		root := newRoot(&globalFlags{})
		for _, name := range []string{"apply", "pause", "resume", "plan", "capture"} {
			c, _, err := root.Find([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			if f := c.Flags().Lookup("lease-namespace"); f.DefValue != namespace {
				t.Errorf("%s: default %q, want %q", name, f.DefValue, namespace)
			}
		}
	}
}
