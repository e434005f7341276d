package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/approval"
	"github.com/evenkeel-project/evenkeel/plan"
)

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
			_, err := f.handOver(c.ctx, client, plan.Plan{ID: "p"}, plan.Approval{By: "alice"})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if r, err := approval.New(client, "ops").Pending(t.Context()); err != nil || r == nil || r.Plan.ID != "p" {
				t.Errorf("request %v (%v), want the plan still there", r, err)
			}
		})
	}
}
