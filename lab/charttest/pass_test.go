package charttest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// calls are the requests of the release's ServiceAccount in the audit log.
func (r release) calls(ctx context.Context, t *testing.T) []auditv1.Event {
	t.Helper()
	var found []auditv1.Event
	eventually(ctx, t, "the audit log to be readable", func() (bool, string) {
		all, err := lab.Audit() // a line that is still being written is an error
		if err != nil {
			return false, err.Error()
		}
		found = slices.DeleteFunc(all, func(e auditv1.Event) bool { return e.User.Username != r.user() })
		return true, ""
	})
	return found
}

// podArgs are the arguments of the pods that carry out the zones strategy, for
// one pass with the configuration in the file.
func (r release) podArgs(ctx context.Context, t *testing.T, kind, config string) []string {
	t.Helper()
	if kind == "Deployment" {
		return []string{"run", "--once", "--strategy", "zones", "--config", config}
	}
	crons, err := r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cron := range crons.Items {
		args := cron.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
		if i := slices.Index(args, "/etc/evenkeel/config.yaml"); i >= 0 && slices.Contains(args, "zones") {
			args = slices.Clone(args)
			args[i] = config
			return args
		}
	}
	t.Fatal("no CronJob carries out zones")
	return nil
}

// A release lets the program level the seed scenario, and the audit log shows
// that it asked for nothing that it may not do.
func TestPassWithTheRightsOfTheRelease(t *testing.T) {
	for _, kind := range []string{"Deployment", "CronJob"} {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			r := newRelease("keel", "ek-pass-"+strings.ToLower(kind))
			seedThreeZones(ctx, t, r.client)
			r.install(ctx, t, "--set", "kind="+kind, "--set", "cronJob.suspend=true", "--set", "config.dryRun=false", "--set", "config.guards.minPodAge=0s")
			config := r.config(ctx, t)
			if out, errs, err := r.evenkeel(ctx, t, "config", "check", config); err != nil {
				t.Fatalf("config check: %v\n%s%s", err, out, errs)
			}
			args := append(r.podArgs(ctx, t, kind, config), "--kubeconfig", r.kubeconfigOfPods(ctx, t))
			out, errs, err := r.evenkeel(ctx, t, args...)
			if err != nil {
				t.Fatalf("evenkeel %v: %v\n%s%s", args, err, out, errs)
			}
			t.Logf("evenkeel %v\n%s", args, out)
			if got := podsOfDPerZone(ctx, t, r.client); got != "2/2/2" {
				t.Errorf("D stands at %s\n%s", got, errs)
			}
			if _, err := r.client.CoordinationV1().Leases(r.namespace).Get(ctx, "evenkeel", metav1.GetOptions{}); err != nil {
				t.Errorf("no Lease was taken: %v", err)
			}
			r.checkCalls(ctx, t)
			r.uninstall(ctx, t)
		})
	}
}

// checkCalls holds the audit log against what one pass should ask for.
func (r release) checkCalls(ctx context.Context, t *testing.T) {
	t.Helper()
	calls := r.calls(ctx, t)
	evictions, events := 0, 0
	for _, c := range calls {
		if c.ResponseStatus == nil {
			continue // a watch that has begun
		}
		if c.ResponseStatus.Code == http.StatusForbidden {
			t.Errorf("refused: %s %s", c.Verb, c.RequestURI)
		}
		switch {
		case c.ObjectRef == nil || c.ResponseStatus.Code != http.StatusCreated:
		case c.ObjectRef.Subresource == "eviction":
			evictions++
		case c.ObjectRef.Resource == "events":
			events++
		}
	}
	if len(calls) == 0 || evictions != 2 {
		t.Errorf("%d calls by %s in the audit log, %d of them evictions, want 2", len(calls), r.user(), evictions)
	}
	t.Logf("%d calls, %d evictions, %d events", len(calls), evictions, events)
}
