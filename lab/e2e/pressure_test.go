package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// writePressure writes a pressure hint to a node, like the hint of a process that was killed.
func writePressure(t *testing.T, name string, expires time.Time) {
	t.Helper()
	patchNode(t, name, map[string]any{
		"metadata": map[string]any{
			"labels": map[string]string{"status": "presure"},
			"annotations": map[string]string{"evenkeel.io/pressure": fmt.Sprintf(
				`{"since":"2026-01-01T00:00:00Z","expires":%q,"rule":"cpu","value":0.9,"label":"status=presure","taint":"evenkeel.io/pressure"}`,
				expires.UTC().Format(time.RFC3339))},
		},
		"spec": map[string]any{"taints": []any{map[string]string{"key": "evenkeel.io/pressure", "effect": "PreferNoSchedule"}}},
	})
	t.Cleanup(func() {
		patchNode(t, name, map[string]any{"metadata": map[string]any{
			"labels": map[string]any{"status": nil}, "annotations": map[string]any{"evenkeel.io/pressure": nil}}})
		editTaints(t, name, func(now []corev1.Taint) []corev1.Taint {
			return slices.DeleteFunc(now, func(x corev1.Taint) bool { return x.Key == "evenkeel.io/pressure" })
		})
	})
}

// checkPressureHint checks that a node has the complete hint, or no part of a hint.
func checkPressureHint(t *testing.T, name string, want bool) {
	t.Helper()
	n := getNode(t, name)
	_, recorded := n.Annotations["evenkeel.io/pressure"]
	tainted := slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == "evenkeel.io/pressure" })
	if labelled := n.Labels["status"] == "presure"; labelled != want || recorded != want || tainted != want {
		t.Errorf("node %s has label %t, taint %t, annotation %t; want %t for all", name, labelled, tainted, recorded, want)
	}
}

// TestPressureHintsOfAKilledProcess checks that `hints gc` removes expired hints and no others. The command must keep a
// taint that another controller writes at the same time.
func TestPressureHintsOfAKilledProcess(t *testing.T) {
	seedApps(t, seed.ThreeZoneApps([3]int{2, 2, 2}, 0))
	config := testbed.ConfigFile(t, "strategies: {}\nhints: {label: status=presure}\n")
	writePressure(t, "n2", time.Now().Add(time.Hour))
	const line = "n2    pressure  cpu at 0.9 (label status=presure, taint evenkeel.io/pressure:PreferNoSchedule)"
	if r := runEvenkeel(t, "hints", "list", "--config", config); r.code != 0 || !strings.Contains(r.stdout, line) {
		t.Errorf("exit %d, or hints list does not show n2", r.code)
	}
	if r := runEvenkeel(t, "hints", "gc", "--config", config); r.code != 0 || !strings.Contains(r.stdout, "The hint on n2 stays") {
		t.Errorf("exit %d, or hints gc does not say that it keeps the hint", r.code)
	}
	checkPressureHint(t, "n2", true)

	writePressure(t, "n2", time.Now().Add(-time.Second))
	var writes atomic.Int32
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch && r.URL.Path == "/api/v1/nodes/n2" && writes.Add(1) == 1 {
			addForeignTaint(t, "n2", "example.org/meanwhile")
		}
		return false
	})
	if r := runEvenkeelAs(t, kubeconfig, "hints", "gc", "--config", config); r.code != 0 || !strings.Contains(r.stdout, "Removed hints from n2.") ||
		writes.Load() != 2 {
		t.Errorf("exit %d after %d writes, want 2 writes: one conflict and one success", r.code, writes.Load())
	}
	checkPressureHint(t, "n2", false)
	checkForeignTaints(t, "n2", "example.org/meanwhile")

	writePressure(t, "n3", time.Now().Add(time.Hour))
	if r := runEvenkeel(t, "hints", "clear", "--config", config); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkPressureHint(t, "n3", false)
}
