package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityEvictionInTheBackground lets a webhook answer as KubeVirt's does when it begins a live migration: 429 and
// a text. The pass must not take this for throttling. Two later processes must not evict another pod of the workload
// until the first pod is gone and its replacement is Ready.
func TestSecurityEvictionInTheBackground(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 100, MemoryMi: 100, Nodes: []string{"n1", "n2", "n3", "n3", "n3", "n3"},
		GraceSeconds: 1}})
	var asked atomic.Int32
	var victim atomic.Value
	serveWebhook(t, ns, func(r *admissionv1.AdmissionRequest) *metav1.Status {
		if asked.Add(1) > 1 {
			return nil
		}
		victim.Store(r.Name)
		return &metav1.Status{Code: 429, Message: fmt.Sprintf("Eviction triggered evacuation of VMI %q", ns+"/vm1")}
	})
	args := []string{"run", "--once", "-o", "json", "--lease-namespace", ns, "--config",
		testbed.ConfigFile(t, zonesConfig+"evictor: {backoff: 1s}\nguards: {minPodAge: 0s}\n")}
	r := runEvenkeel(t, args...)
	if codes := parseReport(t, r.stdout).OutcomeCodes(); r.code != 0 || !slices.Contains(codes, "inProgress EvictionInBackground") {
		t.Errorf("exit %d, outcomes %v; want exit 0 and inProgress EvictionInBackground", r.code, codes)
	}
	checkZones(t, ns, "d", 1, 1, 4)
	r = runEvenkeel(t, args...)
	second := parseReport(t, r.stdout)
	if r.code != 0 || len(second.Spec.Moves) != 0 || second.NotMoved()["EvictionInBackground"] == 0 {
		t.Errorf("second pass: exit %d, %d moves, rejections %v; want none, because of EvictionInBackground", r.code,
			len(second.Spec.Moves), second.NotMoved())
	}
	name, _ := victim.Load().(string)
	must.Succeed(t, lab.Client.CoreV1().Pods(ns).Delete(context.Background(), name, metav1.DeleteOptions{}))
	waitForRollout(t, ns, "d", 6)
	err := seed.WaitUntil(t.Context(), 30*time.Second, func() (bool, error) {
		_, err := lab.Client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Errorf("the pod %s is not gone: %v", name, err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d evictions reached the webhook, want 1", n)
	}
	r = runEvenkeel(t, args...)
	if third := parseReport(t, r.stdout); third.NotMoved()["EvictionInBackground"] != 0 {
		t.Errorf("third pass: rejections %v; want the eviction forgotten", third.NotMoved())
	}
}
