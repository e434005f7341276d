package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// TestPlacementForetellsThePrintedScheduler runs the real kube-scheduler with the configuration that Evenkeel prints.
// The test creates pods one by one, and predicts each binding with the same configuration. The chosen node must be
// among the predicted nodes. Predictions with the default profile must be wrong sometimes; otherwise the test would
// prove nothing.
func TestPlacementForetellsThePrintedScheduler(t *testing.T) {
	dir := t.TempDir()
	predictBinary := filepath.Join(dir, "predict")
	build := exec.Command("go", "build", "-o", predictBinary, "./predict")
	build.Dir = "../oracle"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building predict: %v\n%s", err, out)
	}
	addFiveNodes(t)
	printed := runEvenkeel(t, "config", "scheduler", "--pressure-label", "status=presure")
	file, snapshot := filepath.Join(dir, "scheduler.yaml"), filepath.Join(dir, "snapshot.json")
	must.Succeed(t, os.WriteFile(file, []byte(printed.stdout), 0o600))
	restartScheduler(t, printed.stdout)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 30))
	const bindings = 36
	var hits, defaultHits, winners int
	for i := range bindings {
		app := []string{"a", "d", "a", "d", "d", "b"}[i%6]
		pod := scaleUpByOne(t, ns, app)
		if r := runEvenkeel(t, "capture", "-o", snapshot); r.code != 0 {
			t.Fatal(r.stderr)
		}
		won := predictNodes(t, predictBinary, snapshot, ns+"/"+pod.Name, file)
		winners += len(won)
		if slices.Contains(won, pod.Spec.NodeName) {
			hits++
		} else {
			t.Errorf("pod %d of %s is on node %s, predicted nodes are %v", i, app, pod.Spec.NodeName, won)
		}
		if slices.Contains(predictNodes(t, predictBinary, snapshot, ns+"/"+pod.Name), pod.Spec.NodeName) {
			defaultHits++
		}
	}
	t.Logf("%d of %d bindings as predicted, with %.1f of 8 nodes predicted on average; the default profile predicts %d",
		hits, bindings, float64(winners)/bindings, defaultHits)
	if defaultHits == bindings {
		t.Error("the default profile predicts every binding too, so the test proves nothing")
	}
}

// predictNodes returns the predicted nodes of a pod.
func predictNodes(t *testing.T, predictBinary string, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), predictBinary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("running predict: %v: %s", err, out)
	}
	return strings.Fields(string(out))
}

// addFiveNodes adds nodes n4 to n8, distributes them unevenly over the zones, and labels n5 and n7 as under pressure.
func addFiveNodes(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		for i := 4; i <= 8; i++ {
			if err := lab.Client.CoreV1().Nodes().Delete(context.Background(), fmt.Sprintf("n%d", i), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	must.Succeed(t, seed.CreateNodes(t.Context(), lab.Client, 1, 8))
	for i, zone := range []string{"zone-1", "zone-2", "zone-3", "zone-3", "zone-1"} {
		n := must.Get(lab.Client.CoreV1().Nodes().Get(t.Context(), fmt.Sprintf("n%d", i+4), metav1.GetOptions{}))(t)
		n.Labels[seed.ZoneKey] = zone
		if i == 1 || i == 3 {
			n.Labels["status"] = "presure"
		}
		if _, err := lab.Client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// scaleUpByOne adds one replica to an app and returns the new pod after it is bound.
func scaleUpByOne(t *testing.T, ns, app string) *corev1.Pod {
	t.Helper()
	before := podUIDs(t, ns)
	api := lab.Client.AppsV1().Deployments(ns)
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		s, err := api.GetScale(t.Context(), app, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		s.Spec.Replicas++
		_, err = api.UpdateScale(t.Context(), app, s, metav1.UpdateOptions{})
		return err == nil || !apierrors.IsConflict(err), err
	}))
	var found *corev1.Pod
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; !before[string(p.UID)] && p.Spec.NodeName != "" {
				found = p
			}
		}
		return found != nil, nil
	}); err != nil {
		t.Fatalf("waiting for one more pod of %s: %v", app, err)
	}
	return found
}
