package charttest

import (
	"context"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// eventually asks again until done says so, and fails with what it said last.
func eventually(ctx context.Context, t *testing.T, what string, done func() (bool, string)) {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
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

// podAdmitted waits for a pod made by a controller of the given kind. A pod that
// Pod Security refuses is never made; the refusal is an event then.
func (r release) podAdmitted(ctx context.Context, t *testing.T, ownerKind string) corev1.Pod {
	t.Helper()
	var found corev1.Pod
	eventually(ctx, t, "a pod of a "+ownerKind, func() (bool, string) {
		pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
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

// uninstall removes the release and waits until nothing of it is left.
func (r release) uninstall(ctx context.Context, t *testing.T) {
	t.Helper()
	if len(r.leftovers(ctx, t)) == 0 {
		t.Fatal("nothing of the release is found before it is uninstalled: the search finds nothing")
	}
	r.helm(t, "uninstall", r.name)
	eventually(ctx, t, "everything of the release to go", func() (bool, string) {
		left := r.leftovers(ctx, t)
		return len(left) == 0, strings.Join(left, ", ")
	})
}

var evict = authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "create", Resource: "pods", Subresource: "eviction"}

// rights checks what the ServiceAccount may and may not do.
func (r release) rights(ctx context.Context, t *testing.T, mayEvict bool) {
	t.Helper()
	lease := func(namespace, verb, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Name: name}
	}
	memory := func(namespace, verb, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: "configmaps", Name: name}
	}
	for _, c := range []struct {
		want bool
		what authorizationv1.ResourceAttributes
	}{
		{mayEvict, evict},
		{true, memory(r.namespace, "get", "evenkeel-state-00")},
		{true, memory(r.namespace, "get", "evenkeel-state-15")},
		{true, memory(r.namespace, "get", "evenkeel-state-cluster")},
		{true, memory(r.namespace, "get", "evenkeel-pause")},
		{mayEvict, memory(r.namespace, "create", "")},
		{mayEvict, memory(r.namespace, "update", "evenkeel-state-07")},
		{mayEvict, memory(r.namespace, "update", "evenkeel-state-cluster")},
		{false, memory(r.namespace, "update", "evenkeel-pause")},
		{false, memory(r.namespace, "get", "another")},
		{false, memory(r.namespace, "list", "")},
		{false, memory(r.namespace, "delete", "evenkeel-state-07")},
		{false, memory("kube-system", "get", "evenkeel-state-07")},
		{true, authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"}},
		{true, authorizationv1.ResourceAttributes{Verb: "watch", Group: "apps", Resource: "replicasets"}},
		{true, authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "create", Group: "events.k8s.io", Resource: "events"}},
		{true, lease(r.namespace, "create", "")},
		{mayEvict, lease(r.namespace, "update", "evenkeel")},
		{!mayEvict, lease(r.namespace, "update", "evenkeel-dry-run")},
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
		if got := r.may(ctx, t, c.what); got != c.want {
			t.Errorf("%s %s/%s %s in %q: allowed %v, want %v", c.what.Verb, c.what.Resource, c.what.Subresource, c.what.Name, c.what.Namespace, got, c.want)
		}
	}
}

func TestInstallAsDeployment(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-deployment")
	r.install(ctx, t)
	r.podAdmitted(ctx, t, "ReplicaSet")
	r.rights(ctx, t, false)
	r.helm(t, "upgrade", r.name, chart, "--reuse-values", "--set", "config.dryRun=false")
	r.rights(ctx, t, true)
	r.helm(t, "upgrade", r.name, chart, "--reuse-values", "--set", "config.dryRun=true")
	r.rights(ctx, t, false)
	r.uninstall(ctx, t)
}

func TestInstallAsCronJob(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-cronjob")
	r.install(ctx, t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	r.rights(ctx, t, false)
	crons, err := r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(crons.Items) != 2 {
		t.Fatalf("%d CronJobs, want one per schedule", len(crons.Items))
	}
	cron := crons.Items[0]
	job := &batchv1.Job{Spec: cron.Spec.JobTemplate.Spec}
	job.Name, job.Labels = "by-hand", cron.Spec.JobTemplate.Labels
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	if _, err := r.client.BatchV1().Jobs(r.namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := r.podAdmitted(ctx, t, "Job")
	if args := strings.Join(pod.Spec.Containers[0].Args, " "); !strings.HasPrefix(args, "run --once --strategy ") {
		t.Errorf("the job runs %q", args)
	}
	r.uninstall(ctx, t)
}

// A pod that the restricted level refuses is seen to be refused, so that the
// tests above mean something.
func TestRestrictedLevelIsOn(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-refused")
	r.install(ctx, t, "--set", "securityContext.allowPrivilegeEscalation=true")
	eventually(ctx, t, "the refusal", func() (bool, string) {
		events, err := r.client.CoreV1().Events(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, e := range events.Items {
			if e.Reason == "FailedCreate" && strings.Contains(e.Message, "PodSecurity") {
				return true, ""
			}
		}
		return false, "no event names PodSecurity"
	})
	r.uninstall(ctx, t)
}
