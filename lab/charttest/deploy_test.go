package charttest

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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/evenkeel-project/evenkeel/lab/must"
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
  zones: {type: ZoneSpread, schedule: %q, mode: %s, args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}}
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
			runManifests(t.Context(), t, newRunningRelease("evenkeel", "evenkeel"), writeOverlay(t, c.folder, c.config), c.check)
		})
	}
}

// TestKustomizePermissions checks the account of deploy/kustomize/evict: its token must be refused what Evenkeel never
// does, and a pass must name each permission that is missing. The account may not patch nodes.
func TestKustomizePermissions(t *testing.T) {
	r := newRunningRelease("evenkeel", "evenkeel")
	r.attacked = true
	manifests := writeOverlay(t, "evict", fmt.Sprintf(overlayConfig, false, never, "automatic"))
	runManifests(t.Context(), t, r, manifests, func(ctx context.Context, t *testing.T, r release) {
		r.runKubectl(t, "scale", "--namespace", r.namespace, "deployment/evenkeel", "--replicas", "0")
		r.removeLeases(ctx, t)
		createEventOfAnother(ctx, t, r.client)
		attempts := nodeAttempts()
		for i := range attempts {
			attempts[i].refused = byRBAC
		}
		attempts = slices.Concat(attempts, evictionAttempts(podOfD(ctx, t, r.client, 0)), r.objectAttempts())
		checkAttempts(ctx, t, kubernetes.NewForConfigOrDie(r.tokenConfig(ctx, t)), attempts)
		r.checkImpersonation(ctx, t)
		r.checkEachPermission(ctx, t, variant{is: isUsedInAPass})
	})
}

// writeOverlay writes a kustomization of a folder of deploy/kustomize with another config.yaml, and returns the
// arguments with which kubectl applies it.
func writeOverlay(t *testing.T, folder, config string) []string {
	t.Helper()
	dir := t.TempDir()
	base := filepath.Join(deployFolder, "kustomize", folder)
	must.Succeed(t, os.CopyFS(filepath.Join(dir, "base"), os.DirFS(base)))
	for name, text := range map[string]string{"kustomization.yaml": overlay, "config.yaml": config} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return []string{"-k", dir}
}

// TestInstallManifest runs the pod of deploy/install.yaml, which has a placeholder instead of an image, in the three
// modes. For the dry run, the test edits the ConfigMap. For the others, it applies what deploy/README.md says for a
// configuration that needs more permissions: the chart with other values.
func TestInstallManifest(t *testing.T) {
	file := []string{"-f", filepath.Join(deployFolder, "install.yaml")}
	t.Run("dryRun", func(t *testing.T) {
		runManifests(t.Context(), t, newRunningRelease("evenkeel", "evenkeel"), file, func(ctx context.Context, t *testing.T, r release) {
			r.waitForLog(ctx, t, "leads=true")
			if out := r.runAsAdministrator(ctx, t, "plan"); !strings.Contains(out, "PodTooYoung") {
				t.Errorf("the plan does not say that the pods are too young for the configuration of the release:\n%s", out)
			}
			r.editConfig(ctx, t, map[string]string{"minPodAge: 5m": "minPodAge: 0s", "strategies: {}": `strategies: {zones: {schedule: "* * * * *"}}`})
			showScheduledMoves(ctx, t, r)
		})
	})
	for name, check := range map[string]func(context.Context, *testing.T, release){"approve": approve, "automatic": evict} {
		t.Run(name, func(t *testing.T) {
			r := newRunningRelease("evenkeel", "evenkeel")
			r.attacked = true // kubectl changes the ConfigMap first, so the pod may read it before its permissions exist
			runManifests(t.Context(), t, r, file, func(ctx context.Context, t *testing.T, r release) {
				r.waitForLog(ctx, t, "leads=true")
				text := r.runHelm(t, append([]string{"template", r.name, chart, "--no-hooks", "--set", image, "--set",
					"config.strategies.zones.mode=" + name}, automatic...)...)
				live := filepath.Join(t.TempDir(), "live.yaml")
				must.Succeed(t, os.WriteFile(live, []byte(text), 0o600))
				t.Cleanup(func() { r.runKubectl(t, "delete", "--ignore-not-found", "-f", live) })
				r.runKubectl(t, "apply", "-f", live)
				r.waitForLiveLease(ctx, t)
				r.since = time.Now()
				check(ctx, t, r)
				r.checkForbidden(ctx, t, r.serviceAccountUser())
				r.runKubectl(t, "delete", "--timeout", "5m", "-f", live)
			})
		})
	}
}

// editConfig replaces texts in the configuration of the release, as with kubectl edit.
func (r release) editConfig(ctx context.Context, t *testing.T, texts map[string]string) {
	t.Helper()
	must.Succeed(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cm, err := r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, r.fullname(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		for before, after := range texts {
			if !strings.Contains(cm.Data["config.yaml"], before) {
				t.Fatalf("the configuration has no text %q:\n%s", before, cm.Data["config.yaml"])
			}
			cm.Data["config.yaml"] = strings.ReplaceAll(cm.Data["config.yaml"], before, after)
		}
		_, err = r.client.CoreV1().ConfigMaps(r.namespace).Update(ctx, cm, metav1.UpdateOptions{})
		return err
	}))
}

// waitForLiveLease waits until a process of the release holds the Lease of those that may evict.
func (r release) waitForLiveLease(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(ctx, t, "a leader that may evict", func() (bool, string) {
		lease, err := r.client.CoordinationV1().Leases(r.namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", fmt.Sprint(err)
	})
}

// runManifests applies manifests of namespace evenkeel with kubectl in the three-zones scenario, checks, and deletes
// them. Nothing of them may be left.
func runManifests(ctx context.Context, t *testing.T, r release, manifests []string, check func(context.Context, *testing.T, release)) {
	t.Helper()
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	remove := append([]string{"delete", "--timeout", "5m", "--ignore-not-found"}, manifests...)
	t.Cleanup(func() { r.abandon(t, func() { r.runKubectl(t, remove...) }) })
	r.runKubectl(t, append([]string{"apply"}, manifests...)...)
	r.runKubectl(t, "rollout", "status", "--namespace", r.namespace, "deployment/evenkeel", "--timeout", "5m")
	check(ctx, t, r)
	if !r.attacked {
		r.checkForbidden(ctx, t, r.serviceAccountUser())
	}
	r.runKubectl(t, remove...)
	if left := r.remainingObjects(ctx, t); len(left) > 0 {
		t.Errorf("kubectl delete leaves %s", strings.Join(left, ", "))
	}
	if _, err := r.client.CoreV1().Namespaces().Get(ctx, r.namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("kubectl delete leaves the namespace: %v", err)
	}
}

func (r release) runKubectl(t *testing.T, args ...string) {
	t.Helper()
	if out, err := r.kubectl(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (r release) kubectl(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("kubectl", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	return cmd
}

// showScheduledMoves waits for a pass of the schedule.
func showScheduledMoves(ctx context.Context, t *testing.T, r release) {
	r.waitForLog(ctx, t, "moves=2 ")
	if got := podsOfDPerZone(ctx, t, r.client); got != "1/1/4" {
		t.Errorf("pods of d per zone are %s, want 1/1/4", got)
	}
	r.checkRequests(ctx, t, 0)
}
