package charttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const deployFolder = "../../deploy"

// overlay is the kustomization with which deploy/README.md puts an own image and configuration into a folder of
// deploy/kustomize.
const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [base]
images:
- name: registry.example.invalid/evenkeel
  newName: registry.example.org/evenkeel
configMapGenerator:
- name: evenkeel
  namespace: evenkeel
  behavior: replace
  files: [config.yaml]
generatorOptions:
  disableNameSuffixHash: true
`

// overlayConfig is a configuration that needs no more permissions than the default. It has dryRun, schedule and mode.
const overlayConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: %v
guards: {minPodAge: 0s}
strategies:
- {name: zones, type: ZoneSpread, schedule: %q, mode: %s, args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}}
`

const never, everyMinute = "0 0 29 2 *", "* * * * *"

// TestKustomize runs the pods of deploy/kustomize in the three modes of TestThreeModes.
func TestKustomize(t *testing.T) {
	for _, c := range []struct {
		name, folder, config string
		check                func(context.Context, *testing.T, release)
	}{
		{"dryRun", "base", fmt.Sprintf(overlayConfig, true, everyMinute, "automatic"), showScheduledMoves},
		{"approve", "evict", fmt.Sprintf(overlayConfig, false, never, "approve"), approve},
		{"automatic", "evict", fmt.Sprintf(overlayConfig, false, never, "automatic"), evict},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			base := filepath.Join(deployFolder, "kustomize", c.folder)
			if err := os.CopyFS(filepath.Join(dir, "base"), os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"kustomization.yaml": overlay, "config.yaml": c.config} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runManifests(t.Context(), t, []string{"-k", dir}, c.check)
		})
	}
}

// TestInstallManifest runs the pod of deploy/install.yaml, which has a placeholder instead of an image.
func TestInstallManifest(t *testing.T) {
	file := []string{"-f", filepath.Join(deployFolder, "install.yaml")}
	runManifests(t.Context(), t, file, func(ctx context.Context, t *testing.T, r release) {
		r.waitForLog(ctx, t, "leads=true")
		if out := r.runAsAdministrator(ctx, t, "plan"); !strings.Contains(out, "PodTooYoung") {
			t.Errorf("the plan does not say that the pods are too young for the configuration of the release:\n%s", out)
		}
		r.checkRequests(ctx, t, 0)
	})
}

// runManifests applies manifests of namespace evenkeel with kubectl in the three-zones scenario, checks, and deletes
// them. Nothing of them may be left.
func runManifests(ctx context.Context, t *testing.T, manifests []string, check func(context.Context, *testing.T, release)) {
	t.Helper()
	r := newRunningRelease("evenkeel", "evenkeel")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	r.runKubectl(t, append([]string{"apply"}, manifests...)...)
	t.Cleanup(func() { r.showLogs(t) })
	r.runKubectl(t, "rollout", "status", "--namespace", r.namespace, "deployment/evenkeel", "--timeout", "2m")
	check(ctx, t, r)
	r.runKubectl(t, append([]string{"delete", "--timeout", "2m"}, manifests...)...)
	if left := r.remainingObjects(ctx, t); len(left) > 0 {
		t.Errorf("kubectl delete leaves %s", strings.Join(left, ", "))
	}
	if _, err := r.client.CoreV1().Namespaces().Get(ctx, r.namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("kubectl delete leaves the namespace: %v", err)
	}
}

func (r release) runKubectl(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("kubectl", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// showScheduledMoves waits for a pass of the schedule.
func showScheduledMoves(ctx context.Context, t *testing.T, r release) {
	r.waitForLog(ctx, t, "moves=2 ")
	if got := podsOfDPerZone(ctx, t, r.client); got != "1/1/4" {
		t.Errorf("pods of d per zone are %s, want 1/1/4", got)
	}
	r.checkRequests(ctx, t, 0)
}
