package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// setPodQuota limits the pods of a namespace and waits until the status of the quota counts used pods.
func setPodQuota(ctx context.Context, ns, most, used string) error {
	quotas := lab.Client.CoreV1().ResourceQuotas(ns)
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(most)}}}
	_, err := quotas.Create(ctx, q, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = quotas.Update(ctx, q, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	return seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		q, err := quotas.Get(ctx, "pods", metav1.GetOptions{})
		return err == nil && q.Status.Hard.Pods().String() == most && q.Status.Used.Pods().String() == used, err
	})
}

// TestSecurityQuotaRefusesTheReplacement: a quota has no room for one more pod, so nothing is evicted. With room for
// one, the pods move one after the other.
func TestSecurityQuotaRefusesTheReplacement(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 2))
	must.Succeed(t, setPodQuota(t.Context(), ns, "13", "13"))
	args := []string{"run", "--once", "-o", "json", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns}
	r := parseReport(t, runEvenkeel(t, args...).stdout)
	if r.NotMoved()["ReplacementRefused"] == 0 || len(r.Spec.Moves) != 0 {
		t.Errorf("%d moves, rejections %v", len(r.Spec.Moves), r.NotMoved())
	}
	checkEvictions(t, ns, 0)
	checkZones(t, ns, "d", 1, 1, 4)

	must.Succeed(t, setPodQuota(t.Context(), ns, "14", "13"))
	if r := runEvenkeel(t, args...); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkEvictions(t, ns, 2)
	checkZones(t, ns, "d", 2, 2, 2)
}

// TestSecurityUnforeseenRefusalCostsOnePod: when the first eviction is sent, a quota appears that refuses every new
// pod. The settings would allow two pods of the workload to be away at once.
func TestSecurityUnforeseenRefusalCostsOnePod(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 2))
	config := testbed.ConfigFile(t, zonesConfig+`
guards: {maxUnavailableWithoutPDB: 2, minPodAge: 0s}
limits: {perOwner: unlimited, perNamespace: unlimited, perNode: unlimited}
evictor: {verifyTimeout: 10s, inFlight: {perOwner: 2, perNode: 2}}
`)
	kubeconfig := callAtEviction(t, func() error { return setPodQuota(context.Background(), ns, "1", "13") })
	run := func() testbed.Report {
		t.Helper()
		r := runEvenkeelAs(t, kubeconfig, "run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns)
		return parseReport(t, r.stdout)
	}
	r := run()
	if len(r.Spec.Moves) != 2 || r.Status.Stopped == nil || r.Status.Stopped.Code != "ReplacementNotScheduled" ||
		!strings.Contains(r.Status.Stopped.Message, "no replacement was created") {
		t.Errorf("%d moves, outcomes %q, stopped %+v", len(r.Spec.Moves), r.OutcomeCodes(), r.Status.Stopped)
	}
	checkEvictions(t, ns, 1)
	if r := run(); len(r.Spec.Moves) != 0 {
		t.Errorf("the next pass plans %d moves; rejections %v", len(r.Spec.Moves), r.NotMoved())
	}
	checkEvictions(t, ns, 1)
}
