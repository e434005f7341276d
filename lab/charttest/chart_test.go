package charttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// eventually polls done until it returns true. After three minutes, eventually fails the test with the last state.
func eventually(ctx context.Context, t *testing.T, what string, done func() (bool, string)) {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, state := done()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting for %s: %s", what, state)
		case <-tick.C:
		}
	}
}

// waitForPod waits for a pod whose owner has the given kind. If Pod Security rejects the pod, the pod is never created,
// and waitForPod fails with the events.
func (r release) waitForPod(ctx context.Context, t *testing.T, ownerKind string) corev1.Pod {
	t.Helper()
	var found corev1.Pod
	eventually(ctx, t, "a pod of a "+ownerKind, func() (bool, string) {
		pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx,
			metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
		if err != nil {
			return false, err.Error()
		}
		for _, p := range pods.Items {
			if len(p.OwnerReferences) == 1 && p.OwnerReferences[0].Kind == ownerKind {
				found = p
				return true, ""
			}
		}
		events, err := r.client.CoreV1().Events(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		var said []string
		for _, e := range events.Items {
			said = append(said, e.Message)
		}
		return false, strings.Join(said, "; ")
	})
	return found
}

// uninstall removes the release and waits until all of its objects are deleted. No request of the release until then,
// and none of its cleanup, may have been forbidden. The last requests of its pods may be: they can end after their
// permissions.
func (r release) uninstall(ctx context.Context, t *testing.T) {
	t.Helper()
	if len(r.remainingObjects(ctx, t)) == 0 {
		t.Fatal("found no objects of the release before uninstalling it, so the search does not work")
	}
	if !r.attacked {
		r.checkForbidden(ctx, t, r.serviceAccountUser())
	}
	r.runHelm(t, "uninstall", r.name)
	eventually(ctx, t, "the objects of the release to be deleted", func() (bool, string) {
		left := r.remainingObjects(ctx, t)
		return len(left) == 0, strings.Join(left, ", ")
	})
	r.removeLeases(ctx, t)
	if r.fake { // no clean-up
		resetNodes(ctx, t)
		return
	}
	r.checkForbidden(ctx, t, r.serviceAccountUser()+"-cleanup")
}

// removeLeases removes the Leases of a release without pods. Otherwise the release of the next test would wait until
// they expire, because an older release may evict.
func (r release) removeLeases(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(ctx, t, "the pods of the release to end", func() (bool, string) {
		pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
		if err != nil {
			return false, err.Error()
		}
		return len(pods.Items) == 0, fmt.Sprintf("%d pods are left", len(pods.Items))
	})
	if err := r.client.CoordinationV1().Leases(r.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

var evictPermission = authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "create", Resource: "pods", Subresource: "eviction"}

// checkPermissions checks the permissions of the ServiceAccount.
func (r release) checkPermissions(ctx context.Context, t *testing.T, mayEvict bool) {
	t.Helper()
	lease := func(namespace, verb, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: "coordination.k8s.io",
			Resource: "leases", Name: name}
	}
	configMap := func(namespace, verb, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: "configmaps", Name: name}
	}
	for _, c := range []struct {
		want bool
		what authorizationv1.ResourceAttributes
	}{
		{mayEvict, evictPermission},
		{true, configMap(r.namespace, "get", "evenkeel-state-00")},
		{true, configMap(r.namespace, "get", "evenkeel-state-15")},
		{true, configMap(r.namespace, "get", "evenkeel-state-cluster")},
		{true, configMap(r.namespace, "get", "evenkeel-pause")},
		{mayEvict, configMap(r.namespace, "create", "")},
		{mayEvict, configMap(r.namespace, "update", "evenkeel-state-07")},
		{mayEvict, configMap(r.namespace, "update", "evenkeel-state-cluster")},
		{false, configMap(r.namespace, "update", "evenkeel-pause")},
		{false, configMap(r.namespace, "get", "another")},
		{false, configMap(r.namespace, "list", "")},
		{false, configMap(r.namespace, "delete", "evenkeel-state-07")},
		{false, configMap("kube-system", "get", "evenkeel-state-07")},
		{true, authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"}},
		{true, authorizationv1.ResourceAttributes{Verb: "watch", Group: "apps", Resource: "replicasets"}},
		{true, authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "create", Group: "events.k8s.io", Resource: "events"}},
		{true, lease(r.namespace, "create", "")},
		{true, lease(r.namespace, "update", "evenkeel")},
		{true, lease(r.namespace, "update", "evenkeel-dry-run")},
		{true, authorizationv1.ResourceAttributes{Namespace: r.namespace, Verb: "get", Resource: "configmaps", Name: "evenkeel-pause"}},
		{false, authorizationv1.ResourceAttributes{Namespace: r.namespace, Verb: "delete", Resource: "configmaps", Name: "evenkeel-pause"}},
		{false, lease(r.namespace, "update", "another")},
		{false, lease("kube-system", "create", "")},
		{false, lease("kube-system", "update", "evenkeel")},
		{false, authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "delete", Resource: "pods"}},
		{false, authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "get", Resource: "secrets"}},
		{false, authorizationv1.ResourceAttributes{Verb: "patch", Resource: "nodes"}},
		{false, authorizationv1.ResourceAttributes{Verb: "get", Resource: "nodes", Subresource: "proxy"}},
	} {
		// The API server knows new roles a moment later.
		err := seed.WaitUntil(ctx, 10*time.Second, func() (bool, error) { return r.hasPermission(ctx, t, c.what) == c.want, nil })
		if err != nil {
			t.Errorf("%s %s/%s %s in %q: allowed %v, want %v",
				c.what.Verb, c.what.Resource, c.what.Subresource, c.what.Name, c.what.Namespace, !c.want, c.want)
		}
	}
}

func TestInstallAsDeployment(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-deployment")
	r.install(ctx, t)
	r.waitForPod(ctx, t, "ReplicaSet")
	r.checkDrift(t)
	r.checkPermissions(ctx, t, false)
	r.runHelm(t, "upgrade", r.name, chart, "--reset-then-reuse-values", "--set", "config.dryRun=false")
	r.checkPermissions(ctx, t, true)
	r.runHelm(t, "upgrade", r.name, chart, "--reset-then-reuse-values", "--set", "config.dryRun=true")
	r.checkPermissions(ctx, t, false)
	r.uninstall(ctx, t)
}

// checkDrift checks that the API server stores the objects of the release as they are rendered.
func (r release) checkDrift(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(r.runHelm(t, "get", "manifest", r.name)), 0o600))
	if found := r.differences(t, file, "--server-side", "--force-conflicts"); found != "" {
		t.Errorf("the API server stores other objects than the chart renders:\n%s", found)
	}
}

func TestInstallAsCronJob(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-cronjob")
	r.install(ctx, t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	r.checkPermissions(ctx, t, false)
	r.checkDrift(t)
	crons := must.Get(r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	if len(crons.Items) != 2 {
		t.Fatalf("got %d CronJobs, want one per schedule (2)", len(crons.Items))
	}
	cron := crons.Items[0]
	job := &batchv1.Job{Spec: cron.Spec.JobTemplate.Spec}
	job.Name, job.Labels = "by-hand", cron.Spec.JobTemplate.Labels
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	if _, err := r.client.BatchV1().Jobs(r.namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := r.waitForPod(ctx, t, "Job")
	if args := strings.Join(pod.Spec.Containers[0].Args, " "); !strings.HasPrefix(args, "run --once --strategy ") {
		t.Errorf("the CronJob has arguments %q, want a single pass of one strategy", args)
	}
	r.uninstall(ctx, t)
}

// TestRestrictedLevelIsOn checks that the restricted level rejects a privileged pod; otherwise the tests of the chart
// would prove nothing.
func TestRestrictedLevelIsOn(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-refused")
	r.install(ctx, t, "--set", "securityContext.allowPrivilegeEscalation=true,cleanup.enabled=false")
	eventually(ctx, t, "an event about the rejected pod", func() (bool, string) {
		events, err := r.client.CoreV1().Events(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, e := range events.Items {
			if e.Reason == "FailedCreate" && strings.Contains(e.Message, "PodSecurity") {
				return true, ""
			}
		}
		return false, "no event mentions PodSecurity"
	})
	r.uninstall(ctx, t)
}
