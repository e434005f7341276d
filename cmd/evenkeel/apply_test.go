package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
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

// TestApplyRefusesBeforeItStores checks that apply stores no plan that the process with the Lease would not execute.
func TestApplyRefusesBeforeItStores(t *testing.T) {
	isolateFromCluster(t)
	own := must.Get(installed.Load(""))(t).PlanHash()
	for name, c := range map[string]struct {
		spoil func(*approvalServer, *v1alpha1.RebalancePlanSpec)
		want  string
	}{
		"expired": {func(_ *approvalServer, p *v1alpha1.RebalancePlanSpec) { p.Expires = metav1.Unix(1_750_000_000, 0) },
			"the plan expired at 2025-06-15T15:06:40Z; make a new one with `evenkeel plan`"},
		"another cluster": {func(_ *approvalServer, p *v1alpha1.RebalancePlanSpec) { p.Cluster.UID = "v" },
			`the plan is for another cluster: its kube-system namespace has the UID "v", but here the UID is "u"`},
		"not a plan": {func(_ *approvalServer, p *v1alpha1.RebalancePlanSpec) { p.Moves[1].Step = 1 }, "move 2 has the step number 1"},
		"paused": {func(s *approvalServer, _ *v1alpha1.RebalancePlanSpec) { s.paused = `{"by":"bob"}` },
			"evictions are paused by bob; approved steps would be dropped (run `evenkeel resume` first, or wait for the end of the pause)"},
		"another leader": {func(s *approvalServer, _ *v1alpha1.RebalancePlanSpec) { s.configHash = "c2" },
			"the plan was made with another configuration (hash c1), and node-7 executes plans with its own (hash c2); " +
				"change the configuration of the release (helm upgrade), or make a new plan without --config"},
		"no leader": {func(s *approvalServer, _ *v1alpha1.RebalancePlanSpec) { s.holder = "" },
			"the plan was made with another configuration (hash c1), and this process would execute it with hash " + own +
				"; make a new plan, and pass the same --config to `plan` and `apply`, or none to both"},
	} {
		s := newApprovalServer(t)
		o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "saved"},
			Spec: must.Get(s.objects.Plans.Get(t.Context(), waitingPlan, metav1.GetOptions{}))(t).Spec}
		o.APIVersion, o.Kind, o.Spec.Cluster.UID = v1alpha1.GroupVersion.String(), "RebalancePlan", "u"
		c.spoil(s, &o.Spec)
		file := filepath.Join(t.TempDir(), "plan.json")
		must.Succeed(t, os.WriteFile(file, must.Get(json.Marshal(o))(t), 0o600))
		got := s.run(t, "apply", file, "--config", "builtin", "--wait", "10ms")
		if got.exit != 1 || !strings.Contains(got.stderr, "nothing was evicted: "+c.want+"\n") {
			t.Errorf("%s: exit %d, stderr %q, want %q", name, got.exit, got.stderr, c.want)
		}
		if _, err := s.objects.Plans.Get(t.Context(), "saved", metav1.GetOptions{}); err == nil {
			t.Errorf("%s: the plan is stored", name)
		}
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
