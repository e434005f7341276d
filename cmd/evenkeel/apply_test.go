package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

type someLeader struct{}

func (someLeader) Status(context.Context) (leader.Status, error) {
	return leader.Status{Holder: "node-7"}, nil
}

// TestApplySubmitsThePlan checks that apply creates and approves the plan, and says how to withdraw the approval if the
// leader does not execute it in time. The same plan can be submitted again, and no other one with its name.
func TestApplySubmitsThePlan(t *testing.T) {
	s := newApprovalServer(t)
	saved := must.Get(s.objects.Plans.Get(t.Context(), waitingPlan, metav1.GetOptions{}))(t)
	saved = &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "saved"}, Spec: saved.Spec}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx  context.Context
		wait time.Duration
		want string
	}{
		{stopped, time.Hour, "this command was stopped before the plan ended; its steps stay approved; to withdraw the approval: evenkeel discard --undo saved --steps 1-4"},
		{t.Context(), time.Millisecond, "the plan did not end within 1ms; its steps stay approved; to withdraw the approval: "},
	} {
		f := &applyFlags{namespace: "ops", wait: c.wait}
		submitted := must.Get(f.submit(c.ctx, waiting.New(s.objects), saved, "alice"))(t)
		submitted.Lease = someLeader{}
		waits, cancel := context.WithTimeout(c.ctx, c.wait)
		defer cancel()
		if _, err := submitted.Await(waits); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
		o := must.Get(s.objects.Plans.Get(t.Context(), "saved", metav1.GetOptions{}))(t)
		if d := o.Decision; d == nil || d.By != "alice" || !slices.Equal(d.Approve.Steps, []int32{1, 2, 3, 4}) {
			t.Errorf("the decision is %+v", d)
		}
	}
	saved.Spec.ID = "another"
	if _, err := new(applyFlags).submit(t.Context(), waiting.New(s.objects), saved, "alice"); err == nil || !strings.Contains(err.Error(), "another plan has the name saved") {
		t.Errorf("error %v", err)
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
