package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// TestTheLabBehavesWithoutEvenkeel evicts two pods in zone-3 through the API, one after the other, without Evenkeel.
// The scheduler alone must change the pods per zone from 1/1/4 to 2/2/2, and the audit log must show exactly two
// evictions. If this test fails, the fault is in the lab and not in Evenkeel.
func TestTheLabBehavesWithoutEvenkeel(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	checkZones(t, ns, "d", 1, 1, 4)
	checkEvictions(t, ns, 0)
	for range 2 {
		evictManually(t, ns, "n3")
	}
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
	events, err := lab.Evictions(ns)
	if err != nil || len(events) != 2 {
		t.Errorf("%d eviction requests in the audit log, want 2 (%v)", len(events), err)
	}
}

// TestTheServerHasTheChosenVersion checks that EVENKEEL_KUBE, a folder such as kube-v1.34.4,
// decides the version of the API server, and that the tests otherwise run the version that is linked
// into them.
func TestTheServerHasTheChosenVersion(t *testing.T) {
	want := version.Get().GitVersion
	if folder := os.Getenv("EVENKEEL_KUBE"); folder != "" {
		want = strings.TrimPrefix(filepath.Base(folder), "kube-")
	}
	if got, err := lab.Client.Discovery().ServerVersion(); err != nil || got.GitVersion != want {
		t.Errorf("the server is %v (%v), want %s", got, err, want)
	}
}

// evictManually evicts a pod of d from a node, and waits until the pod is deleted and six pods are Ready.
func evictManually(t *testing.T, ns, node string) {
	t.Helper()
	ctx := t.Context()
	api := lab.Client.CoreV1().Pods(ns)
	list, err := api.List(ctx, metav1.ListOptions{LabelSelector: "app=d", FieldSelector: "spec.nodeName=" + node})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("node %s has no pod of d (%v)", node, err)
	}
	victim := list.Items[0]
	begun := time.Now()
	must.Succeed(t, lab.Client.PolicyV1().Evictions(ns).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: victim.Name, Namespace: ns},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}},
	}))
	if err := seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		d, err := lab.Client.AppsV1().Deployments(ns).Get(ctx, "d", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pods, err := api.List(ctx, metav1.ListOptions{LabelSelector: "app=d"})
		if err != nil {
			return false, err
		}
		for _, p := range pods.Items {
			if p.UID == victim.UID {
				return false, nil
			}
		}
		return len(pods.Items) == 6 && d.Status.ReadyReplicas == 6, nil
	}); err != nil {
		t.Fatalf("waiting for the replacement of %s: %v", victim.Name, err)
	}
	if took := time.Since(begun); took < time.Second {
		t.Errorf("the evicted pod was deleted after %s, want at least 1s", took)
	}
}
