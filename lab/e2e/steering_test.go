package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const steerByTaintConfig = zonesConfig + "evictor: {steer: taint}\n"

// TestASteeredTie checks that steering with a taint decides between nodes with equal scores, which steer: none leaves
// undecided.
func TestASteeredTie(t *testing.T) {
	config := testbed.ConfigFile(t, steerByTaintConfig)
	for i := range repetitions() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
			r := runEvenkeel(t, "run", "--once", "--config", config)
			if r.code != 0 || !strings.Contains(r.stdout, "1 replacement landed as predicted") {
				t.Errorf("exit %d, or the report does not say that the replacement landed as predicted", r.code)
			}
			checkZones(t, ns, "d", 2, 2, 2)
			checkEvictions(t, ns, 1)
			checkHints(t)
		})
	}
}

// TestADryRunShowsHintsAndWritesNone checks that a dry run shows planned hints but does not change the node.
func TestADryRunShowsHintsAndWritesNone(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	before := getNode(t, "n3")
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, steerByTaintConfig+"dryRun: true\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "taint  n3") {
		t.Errorf("exit %d, or the report shows no hint on n3", r.code)
	}
	if after := getNode(t, "n3"); after.ResourceVersion != before.ResourceVersion {
		t.Error("the dry run changed node n3")
	}
	checkEvictions(t, ns, 0)
}

// TestSteeringByLabelNeedsPodsThatListen checks that a label does not steer pods that have no node affinity for the
// label.
func TestSteeringByLabelNeedsPodsThatListen(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig+"evictor: {steer: label}\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "not steered: it has no node affinity that looks at the label") {
		t.Errorf("exit %d", r.code)
	}
	checkEvictions(t, ns, 0)
}

// startPassWithPendingPod starts a pass and cordons all nodes just before the eviction, so that the replacement fits on
// no node. startPassWithPendingPod returns when the replacement is Pending.
func startPassWithPendingPod(t *testing.T, ns, config string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	t.Cleanup(func() { setCordoned(t, false) })
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if isEviction(r) {
			setCordoned(t, true)
		}
		return false
	})
	var log bytes.Buffer
	cmd := exec.Command(testbed.Evenkeel, "run", "--once", "--config", config, "--kubeconfig", kubeconfig, "--lease-namespace", ns)
	cmd.Stdout, cmd.Stderr = &log, &log
	must.Succeed(t, cmd.Start())
	var once sync.Once
	t.Cleanup(func() {
		once.Do(func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() })
		if t.Failed() {
			t.Log(log.String())
		}
	})
	must.Succeed(t, seed.WaitUntil(t.Context(), 20*time.Second, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=d"})
		if err != nil {
			return false, err
		}
		waits := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
		if !waits {
			return false, fmt.Errorf("every pod of d has a node")
		}
		return true, nil
	}))
	return cmd, &log
}

// TestAKilledPassLeavesHintsThatExpire kills a pass after it has written a hint. `hints gc` must remove the hint only
// after its expiry, and must keep a taint that another controller added in the meantime.
func TestAKilledPassLeavesHintsThatExpire(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	cmd, _ := startPassWithPendingPod(t, ns, testbed.ConfigFile(t, zonesConfig+"evictor: {steer: taint}\n"))
	must.Succeed(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	must.Succeed(t, lab.Client.CoordinationV1().Leases(ns).Delete(t.Context(), "evenkeel", metav1.DeleteOptions{})) // else the next tests wait for its end
	left := checkHints(t, "n3")
	addForeignTaint(t, "n3", "example.org/other")
	setCordoned(t, false)

	if time.Now().After(left[0].expires) {
		t.Fatalf("the hint already expired at %s", left[0].expires)
	}
	if r := runEvenkeel(t, "hints", "list", "--config", "builtin"); r.code != 0 || !strings.Contains(r.stdout, "n3    taint  "+left[0].run) {
		t.Errorf("exit %d, or hints list does not show n3", r.code)
	}
	if r := runEvenkeel(t, "hints", "gc", "--config", "builtin"); r.code != 0 || !strings.Contains(r.stdout, "The hint on n3 stays") {
		t.Errorf("exit %d, or hints gc does not say that it keeps the hint", r.code)
	}
	checkHints(t, "n3")

	expired := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hints.ExpiresAnnotation, time.Now().Add(-time.Second).UTC().Format(time.RFC3339))
	must.Get(lab.Client.CoreV1().Nodes().Patch(t.Context(), "n3", types.MergePatchType, []byte(expired), metav1.PatchOptions{}))(t)
	if r := runEvenkeel(t, "hints", "gc", "--config", "builtin"); r.code != 0 || !strings.Contains(r.stdout, "Removed hints from n3.") {
		t.Errorf("exit %d, or hints gc does not remove the hint", r.code)
	}
	checkHints(t)
	checkForeignTaints(t, "n3", "example.org/other")
	checkZones(t, ns, "d", 2, 2, 2)
}

// TestATerminatedPassTakesItsHintsAway sends SIGTERM to a pass after it has written a hint. The pass must remove its
// hints before it ends.
func TestATerminatedPassTakesItsHintsAway(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	cmd, log := startPassWithPendingPod(t, ns, testbed.ConfigFile(t, steerByTaintConfig))
	checkHints(t, "n3")
	start := time.Now()
	must.Succeed(t, cmd.Process.Signal(syscallTerm))
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "the pass stopped early: Interrupted") {
		t.Errorf("got %v, want exit 1 after the interruption\n%s", err, log)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the process took %s to end, want at most 10s", took)
	}
	checkHints(t)
}

// TestTheNextPassTakesOldHintsAway checks that the next pass removes the expired hints of a killed process before it
// reads the cluster.
func TestTheNextPassTakesOldHintsAway(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{2, 2, 2}, 0))
	writeExpiredHint(t, "n2")
	if r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, steerByTaintConfig), "--lease-namespace", ns); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkHints(t)
	writeExpiredHint(t, "n2")
	if r := runEvenkeel(t, "hints", "clear", "--config", "builtin"); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkHints(t)
}

// TestForeignTaintsSurvive adds a foreign taint just before each of the two node writes of a wave.
func TestForeignTaintsSurvive(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	var writes atomic.Int32
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch && r.URL.Path == "/api/v1/nodes/n3" {
			if n := writes.Add(1); n == 1 || n == 3 {
				addForeignTaint(t, "n3", fmt.Sprintf("example.org/write-%d", n))
			}
		}
		return false
	})
	r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, steerByTaintConfig), "--lease-namespace", ns)
	if r.code != 0 || writes.Load() != 4 {
		t.Errorf("exit %d after %d writes, want 4 writes: two conflicts and two successes", r.code, writes.Load())
	}
	checkHints(t)
	checkForeignTaints(t, "n3", "example.org/write-1", "example.org/write-3")
	checkZones(t, ns, "d", 2, 2, 2)
}

// TestSteeringNeedsOnePermission checks that a pass needs permission to patch nodes for steering, and no further
// permission.
func TestSteeringNeedsOnePermission(t *testing.T) {
	rights := []rbacv1.PolicyRule{
		leaseRule, stateRule,
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
	}
	t.Run("missing", func(t *testing.T) {
		ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
		r := runEvenkeelAs(t, createAccount(t, ns, rights...), "run", "--once", "--config",
			testbed.ConfigFile(t, steerByTaintConfig), "--lease-namespace", ns)
		if r.code != 1 || !strings.Contains(r.stderr, "PermissionMissing: permission to patch nodes is missing") {
			t.Errorf("exit %d", r.code)
		}
		checkEvictions(t, ns, 0)
	})
	t.Run("given", func(t *testing.T) {
		ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
		patch := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch"}}
		kubeconfig := createAccount(t, ns, append(rights, patch)...)
		r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, steerByTaintConfig), "--lease-namespace", ns)
		if r.code != 0 {
			t.Errorf("exit %d", r.code)
		}
		checkZones(t, ns, "d", 2, 2, 2)
		checkHints(t)
	})
}
