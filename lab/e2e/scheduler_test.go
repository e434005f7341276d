package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// restartScheduler runs kube-scheduler with a configuration until the test ends.
func restartScheduler(t *testing.T, config string) {
	t.Helper()
	must.Succeed(t, lab.RestartScheduler(t.Context(), []byte(config)))
	t.Cleanup(func() {
		if err := lab.RestartScheduler(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestPrintedSchedulerConfigLevelsARollingUpdate starts the real kube-scheduler with the output of `config scheduler`.
// The test then updates Deployment d, which has 1/2/3 pods per zone. Every update must end with 2/2/2 pods per zone and
// without an eviction; with the default weights, this happens only by chance.
//
// Pods are replaced one by one without a grace period. Zone-2 is almost full: while it has an old pod, no second new
// pod fits.
func TestPrintedSchedulerConfigLevelsARollingUpdate(t *testing.T) {
	rounds := max(repetitions(), 5)
	uneven := func(s string) bool { return s != "2/2/2" }
	var before []string
	for len(before) < 20 && (len(before) < rounds || !slices.ContainsFunc(before, uneven)) {
		before = append(before, updateRepeatedly(t, 1)...)
	}
	t.Logf("default weights: %v", before)
	if !slices.ContainsFunc(before, uneven) {
		t.Errorf("%d rollouts ended at 2/2/2 with the default weights, so the test proves nothing", len(before))
	}
	printed := runEvenkeel(t, "config", "scheduler")
	if printed.code != 0 {
		t.Fatal(printed.stderr)
	}
	restartScheduler(t, printed.stdout)
	after := updateRepeatedly(t, rounds)
	t.Logf("printed configuration: %v", after)
	for _, s := range after {
		if uneven(s) {
			t.Errorf("a rollout ended at %s, want 2/2/2", s)
		}
	}
}

// updateRepeatedly creates Deployment d with 1/2/3 pods per zone, n times, and updates it each time. The result is the
// number of pods per zone after each update.
func updateRepeatedly(t *testing.T, n int) (ends []string) {
	t.Helper()
	for i := range n {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
			patch := fmt.Appendf(nil, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`+
				`"template":{"metadata":{"annotations":{"rolled":"%d"}}}}}`, i)
			api := lab.Client.AppsV1().Deployments(ns)
			if _, err := api.Patch(t.Context(), "d", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			waitForRollout(t, ns, "d", 6)
			s := must.Get(seed.PodsByZone(t.Context(), lab.Client, ns, "d"))(t)
			checkEvictions(t, ns, 0)
			ends = append(ends, fmt.Sprintf("%d/%d/%d", s["zone-1"], s["zone-2"], s["zone-3"]))
		})
	}
	return ends
}

// waitForRollout waits until the new ReplicaSet owns all pods and all of them are Ready.
func waitForRollout(t *testing.T, ns, app string, want int32) {
	t.Helper()
	if err := seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		d, err := lab.Client.AppsV1().Deployments(ns).Get(t.Context(), app, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		s := d.Status
		if s.ObservedGeneration < d.Generation || s.UpdatedReplicas != want || s.Replicas != want || s.ReadyReplicas != want {
			return false, nil
		}
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
		return err == nil && len(pods.Items) == int(want), err
	}); err != nil {
		t.Fatalf("waiting for the rollout of %s/%s: %v", ns, app, err)
	}
}
