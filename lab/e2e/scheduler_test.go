package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// reschedule runs kube-scheduler with a configuration until the test ends.
func reschedule(t *testing.T, config string) {
	t.Helper()
	if err := lab.Reschedule(t.Context(), []byte(config)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Reschedule(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestPrintedSchedulerConfigLevelsARollingUpdate starts the real kube-scheduler
// with what `config scheduler` prints, and rolls Deployment d of the seed, which
// stands 1/2/3: it ends at 2/2/2 every time, with no eviction. With the default
// weights that is a matter of luck. Pods are replaced one by one and have no grace
// period: zone-2 is all but full, and while old pods are still there it has no
// room for a second new one, whatever the weight.
func TestPrintedSchedulerConfigLevelsARollingUpdate(t *testing.T) {
	rounds := max(repetitions(), 5)
	uneven := func(s string) bool { return s != "2/2/2" }
	var before []string
	for len(before) < 20 && (len(before) < rounds || !slices.ContainsFunc(before, uneven)) {
		before = append(before, rollouts(t, 1)...)
	}
	t.Logf("default weights: %v", before)
	if !slices.ContainsFunc(before, uneven) {
		t.Errorf("%d rollouts ended level with the default weights; the test shows nothing", len(before))
	}
	printed := evenkeel(t, "config", "scheduler")
	if printed.code != 0 {
		t.Fatal(printed.stderr)
	}
	reschedule(t, printed.stdout)
	after := rollouts(t, rounds)
	t.Logf("printed configuration: %v", after)
	for _, s := range after {
		if uneven(s) {
			t.Errorf("a rollout ended at %s, want 2/2/2", s)
		}
	}
}

// rollouts seeds d at 1/2/3 and rolls it, again and again.
func rollouts(t *testing.T, n int) (ends []string) {
	t.Helper()
	for i := range n {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
			patch := fmt.Sprintf(`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"template":{"metadata":{"annotations":{"rolled":"%d"}}}}}`, i)
			if _, err := lab.Client.AppsV1().Deployments(ns).Patch(t.Context(), "d", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			rolledOut(t, ns, "d", 6)
			s, err := seed.Spread(t.Context(), lab.Client, ns, "d")
			if err != nil {
				t.Fatal(err)
			}
			wantEvictions(t, ns, 0)
			ends = append(ends, fmt.Sprintf("%d/%d/%d", s["zone-1"], s["zone-2"], s["zone-3"]))
		})
	}
	return ends
}

// rolledOut waits until only new pods are there, all Ready.
func rolledOut(t *testing.T, ns, app string, want int32) {
	t.Helper()
	if err := seed.Until(t.Context(), 2*time.Minute, func() (bool, error) {
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
