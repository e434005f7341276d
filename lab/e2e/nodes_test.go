package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

func getNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := must.Get(lab.Client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{}))(t)
	return n
}

// steeringHint is the steering hint of a node, parsed without the program's own code.
type steeringHint struct {
	run     string
	expires time.Time
}

// checkHints checks which nodes have a steering hint, and that each hint has both its taint and its annotation.
func checkHints(t *testing.T, want ...string) []steeringHint {
	t.Helper()
	nodes := must.Get(lab.Client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{}))(t)
	var on []string
	var found []steeringHint
	for i := range nodes.Items {
		n := &nodes.Items[i]
		expires, ours := n.Annotations["evenkeel.io/steer-expires"]
		tainted := slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool {
			return x.Key == "evenkeel.io/steer" && x.Effect == corev1.TaintEffectPreferNoSchedule
		})
		if ours != tainted {
			t.Errorf("node %s has an incomplete hint: annotations %v, taints %v", n.Name, n.Annotations, n.Spec.Taints)
		}
		if ours {
			at, err := time.Parse(time.RFC3339, expires)
			if err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
			on, found = append(on, n.Name), append(found, steeringHint{n.Annotations["evenkeel.io/steer-run"], at})
		}
	}
	if !slices.Equal(on, want) {
		t.Fatalf("nodes with hints: %v, want %v", on, want)
	}
	return found
}

func checkForeignTaints(t *testing.T, name string, keys ...string) {
	t.Helper()
	taints := getNode(t, name).Spec.Taints
	for _, key := range keys {
		if !slices.ContainsFunc(taints, func(x corev1.Taint) bool { return x.Key == key }) {
			t.Errorf("node %s has lost taint %s; its taints are %v", name, key, taints)
		}
	}
}

func patchNode(t *testing.T, name string, doc any) {
	t.Helper()
	body := must.Get(json.Marshal(doc))(t)
	nodes := lab.Client.CoreV1().Nodes()
	if _, err := nodes.Patch(context.Background(), name, types.StrategicMergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Errorf("patching %s: %v", name, err)
	}
}

// addForeignTaint adds a taint like another controller does: it reads the node, appends the taint, and retries on a
// conflict.
func addForeignTaint(t *testing.T, name, key string) {
	t.Helper()
	editTaints(t, name, func(now []corev1.Taint) []corev1.Taint {
		return append(now, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	})
	t.Cleanup(func() {
		editTaints(t, name, func(now []corev1.Taint) []corev1.Taint {
			return slices.DeleteFunc(now, func(x corev1.Taint) bool { return x.Key == key })
		})
	})
}

func editTaints(t *testing.T, name string, edit func([]corev1.Taint) []corev1.Taint) {
	t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		n := getNode(t, name)
		n.Spec.Taints = edit(n.Spec.Taints)
		_, err := lab.Client.CoreV1().Nodes().Update(context.Background(), n, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Errorf("tainting %s: %v", name, err)
	}
}

func setCordoned(t *testing.T, on bool) {
	t.Helper()
	for _, name := range []string{"n1", "n2", "n3"} {
		patchNode(t, name, map[string]any{"spec": map[string]any{"unschedulable": on}})
	}
	if on {
		return
	}
	// The controller that taints unschedulable nodes removes the taint a moment later.
	if err := seed.WaitUntil(context.Background(), 20*time.Second, func() (bool, error) {
		for _, name := range []string{"n1", "n2", "n3"} {
			taints := getNode(t, name).Spec.Taints
			if slices.ContainsFunc(taints, func(x corev1.Taint) bool { return x.Key == corev1.TaintNodeUnschedulable }) {
				return false, fmt.Errorf("%s is still tainted as unschedulable", name)
			}
		}
		return true, nil
	}); err != nil {
		t.Errorf("uncordoning: %v", err)
	}
}

// writeExpiredHint writes an expired hint, like the hint of a process that was killed long ago.
func writeExpiredHint(t *testing.T, name string) {
	t.Helper()
	patchNode(t, name, map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{
			"evenkeel.io/steer-run": "old", "evenkeel.io/steer-expires": "2026-01-01T00:00:00Z"}},
		"spec": map[string]any{"taints": []any{map[string]string{"key": "evenkeel.io/steer", "effect": "PreferNoSchedule"}}},
	})
}
