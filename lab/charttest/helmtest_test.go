package charttest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHelmTest runs `helm test` for a release: it succeeds, and fails without the permission to list pods.
func TestHelmTest(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-helm-test")
	r.attacked = true
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	r.install(ctx, t, "--set", "config.guards.minPodAge=0s")
	if out := r.runHelm(t, "test", r.name, "--logs", "--timeout", "5m"); !strings.Contains(out, "Succeeded") || !strings.Contains(out, "Plan: 2 evictions") {
		t.Errorf("helm test does not say that it succeeded, or does not show the plan:\n%s", out)
	}
	list := r.permissions(ctx, t)
	i := slices.IndexFunc(list, func(p permission) bool { return p.resource == "pods" && slices.Contains(p.verbs, "list") })
	restore := r.remove(ctx, t, list[i])
	cmd := exec.CommandContext(ctx, helmBinary(t), "test", r.name, "--namespace", r.namespace, "--timeout", "5m")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	if out, err := cmd.CombinedOutput(); err == nil || !list[i].isNamedIn(string(out)) {
		t.Errorf("helm test: %v, want an error that names %s\n%s", err, list[i], out)
	}
	restore()
	// As the chart's README says, the pod of a failed test stays.
	r.runKubectl(t, "delete", "pod", "--namespace", r.namespace, "--selector", "app.kubernetes.io/component=test")
	r.uninstall(ctx, t)
}
