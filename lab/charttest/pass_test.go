package charttest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// auditedRequests returns the requests of the ServiceAccount in the audit log since the release was made.
func (r release) auditedRequests(ctx context.Context, t *testing.T) []auditv1.Event {
	t.Helper()
	return r.auditedRequestsOf(ctx, t, r.serviceAccountUser())
}

// checkForbidden checks that no request of a user was forbidden since the release was made. It returns the number of
// requests, and ignores dry runs.
func (r release) checkForbidden(ctx context.Context, t *testing.T, user string) (requests int) {
	t.Helper()
	calls := r.auditedRequestsOf(ctx, t, user)
	for _, c := range calls {
		if r.isForbidden(c) {
			t.Errorf("forbidden request of %s: %s %s: %s", user, c.Verb, c.RequestURI, c.ResponseStatus.Message)
		}
	}
	t.Logf("%d requests of %s", len(calls), user)
	return len(calls)
}

func (r release) isForbidden(e auditv1.Event) bool {
	former := e.StageTimestamp.Time.Before(r.upgraded) && e.ObjectRef != nil &&
		(e.ObjectRef.APIGroup == "evenkeel.io" || slices.Contains(optionalKinds, e.ObjectRef.Resource))
	return !former && e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusForbidden && !strings.Contains(e.RequestURI, "dryRun=All")
}

func (r release) auditedRequestsOf(ctx context.Context, t *testing.T, user string) []auditv1.Event {
	t.Helper()
	var found []auditv1.Event
	eventually(ctx, t, "the audit log to be readable", func() (bool, string) {
		all, err := lab.Audit() // a line that the API server is still writing is an error
		if err != nil {
			return false, err.Error()
		}
		found = slices.DeleteFunc(all, func(e auditv1.Event) bool {
			return e.User.Username != user || e.RequestReceivedTimestamp.Time.Before(r.since)
		})
		return true, ""
	})
	return found
}

// podArgs returns the arguments of the release's pods for one pass of strategy zones, with another configuration
// file.
func (r release) podArgs(ctx context.Context, t *testing.T, kind, config string) []string {
	t.Helper()
	if kind == "Deployment" {
		return []string{"run", "--once", "--strategy", "zones", "--config", config}
	}
	crons := must.Get(r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	for _, cron := range crons.Items {
		args := cron.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
		if i := slices.Index(args, "/etc/evenkeel/config.yaml"); i >= 0 && slices.ContainsFunc(args, func(a string) bool { return slices.Contains(strings.Split(a, ","), "zones") }) {
			args = slices.Clone(args)
			args[i] = config
			return args
		}
	}
	t.Fatal("no CronJob runs strategy zones")
	return nil
}

// TestPassWithTheRightsOfTheRelease runs one pass as the release's ServiceAccount. Its permissions must be enough to
// even out three zones. The audit log must show no forbidden request.
func TestPassWithTheRightsOfTheRelease(t *testing.T) {
	for _, kind := range []string{"Deployment", "CronJob"} {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			r := newRelease("keel", "ek-pass-"+strings.ToLower(kind))
			seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
			r.install(ctx, t, "--set", "kind="+kind, "--set", "cronJob.suspend=true",
				"--set", "config.dryRun=false", "--set", "config.guards.minPodAge=0s")
			r.waitForAccess(ctx, t, evictPermission)
			config := r.writeConfig(ctx, t)
			if out, errs, err := r.runEvenkeel(ctx, t, "config", "check", config); err != nil {
				t.Fatalf("config check: %v\n%s%s", err, out, errs)
			}
			args := append(r.podArgs(ctx, t, kind, config), "--kubeconfig", r.writePodKubeconfig(ctx, t))
			out, errs, err := r.runEvenkeel(ctx, t, args...)
			if err != nil {
				t.Fatalf("evenkeel %v: %v\n%s%s", args, err, out, errs)
			}
			t.Logf("evenkeel %v\n%s", args, out)
			if got := podsOfDPerZone(ctx, t, r.client); got != "2/2/2" {
				t.Errorf("pods of d per zone are %s, want 2/2/2\n%s", got, errs)
			}
			if _, err := r.client.CoordinationV1().Leases(r.namespace).Get(ctx, "evenkeel", metav1.GetOptions{}); err != nil {
				t.Errorf("the pass did not create its Lease: %v", err)
			}
			r.checkRequests(ctx, t, 2)
			r.uninstall(ctx, t)
		})
	}
}

// checkRequests compares the audit log with the expected requests of the passes. It ignores dry runs.
func (r release) checkRequests(ctx context.Context, t *testing.T, wantEvictions int) {
	t.Helper()
	calls := r.auditedRequests(ctx, t)
	evictions, events := 0, 0
	for _, c := range calls {
		if c.ResponseStatus == nil || strings.Contains(c.RequestURI, "dryRun=All") {
			continue // no status: a watch that has started
		}
		if r.isForbidden(c) {
			t.Errorf("forbidden request: %s %s: %s", c.Verb, c.RequestURI, c.ResponseStatus.Message)
		}
		switch {
		case c.ObjectRef == nil || c.ResponseStatus.Code != http.StatusCreated:
		case c.ObjectRef.Subresource == "eviction":
			evictions++
		case c.ObjectRef.Resource == "events":
			events++
		}
	}
	if len(calls) == 0 || evictions != wantEvictions {
		t.Errorf("%d requests by %s in the audit log with %d evictions, want %d", len(calls), r.serviceAccountUser(), evictions, wantEvictions)
	}
	t.Logf("%d requests, %d evictions, %d events", len(calls), evictions, events)
}
