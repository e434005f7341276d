package charttest

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestFailedPodsWithTheRightsOfTheRelease removes a failed pod as the release's ServiceAccount, by
// eviction or by deletion. RBAC and the policies of the chart must allow only the configured
// request, and deletions only of failed pods.
func TestFailedPodsWithTheRightsOfTheRelease(t *testing.T) {
	for remove, refused := range map[string]string{"eviction": byRBAC, "deletion": byPolicy} {
		t.Run(remove, func(t *testing.T) {
			ctx := t.Context()
			r := newRelease("keel", "ek-failed-"+remove)
			seedThreeZones(ctx, t, r.client, [3]int{2, 2, 2})
			failed := podOfD(ctx, t, r.client, 0)
			r.failPod(ctx, t, failed)
			r.install(ctx, t, "--set", "config.dryRun=false", "--set-json", fmt.Sprintf(`config.preset=[],config.strategies={"failed": {`+
				`"type":"FailedPods","schedule":"@hourly","args":{"minAge":"0s","remove":%q}}}`, remove))
			args := []string{"run", "--once", "--config", r.writeConfig(ctx, t), "--kubeconfig", r.writePodKubeconfig(ctx, t)}
			if out, errs, err := r.runEvenkeel(ctx, t, args...); err != nil {
				t.Fatalf("evenkeel %v: %v\n%s%s", args, err, out, errs)
			}
			if _, err := r.client.CoreV1().Pods("shop").Get(ctx, failed, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the failed pod is still there: %v", err)
			}
			if got := podsOfDPerZone(ctx, t, r.client); got != "2/2/2" && got != "1/3/2" && got != "1/2/3" {
				t.Errorf("pods of d per zone are %s, want the five that ran before and a replacement", got)
			}
			evictions, deletions := 1, 0
			if remove == "deletion" {
				evictions, deletions = 0, 1
			}
			r.checkRequests(ctx, t, evictions)
			if n := r.acceptedDeletions(ctx, t); n != deletions {
				t.Errorf("%d deletions of pods, want %d", n, deletions)
			}
			// A policy becomes active some time after it is created. Until then, a dry run deletes nothing.
			options := object{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []string{"All"}}
			checkAttempts(ctx, t, kubernetes.NewForConfigOrDie(r.tokenConfig(ctx, t)), []attempt{
				{"delete a pod that runs", http.MethodDelete, "/api/v1/namespaces/shop/pods/" + podOfD(ctx, t, r.client, 1), options, refused},
				{"delete all pods", http.MethodDelete, "/api/v1/namespaces/shop/pods", options, byRBAC},
			})
			r.uninstall(ctx, t)
		})
	}
}

// failPod sets the phase of a pod to Failed, as its kubelet does when it evicts the pod, and waits for the replacement.
func (r release) failPod(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	pods := r.client.CoreV1().Pods("shop")
	p := must.Get(pods.Get(ctx, name, metav1.GetOptions{}))(t)
	p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}
	if _, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the replacement of "+name, func() (bool, string) {
		found, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=d", FieldSelector: "status.phase=Running"})
		if err != nil {
			return false, err.Error()
		}
		return len(found.Items) == 6, fmt.Sprintf("%d pods run", len(found.Items))
	})
}

// acceptedDeletions counts the pods that the ServiceAccount has deleted.
func (r release) acceptedDeletions(ctx context.Context, t *testing.T) (n int) {
	t.Helper()
	for _, e := range r.auditedRequests(ctx, t) {
		if e.Verb == "delete" && e.ObjectRef != nil && e.ObjectRef.Resource == "pods" && e.ResponseStatus != nil && e.ResponseStatus.Code < 300 {
			n++
		}
	}
	return n
}
