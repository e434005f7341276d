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

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const byTaint = zones + "evictor: {steer: taint}\n"

// TestASteeredTie: a tie that steer: none leaves alone is broken by a taint.
func TestASteeredTie(t *testing.T) {
	config := testbed.ConfigFile(t, byTaint)
	for i := range repetitions() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
			r := evenkeel(t, "run", "--once", "--config", config)
			if r.code != 0 || !strings.Contains(r.stdout, "1 replacement landed as predicted") {
				t.Errorf("exit %d; the replacement did not land as predicted", r.code)
			}
			wantZones(t, ns, "d", 2, 2, 2)
			wantEvictions(t, ns, 1)
			wantHints(t)
		})
	}
}

// TestADryRunShowsHintsAndWritesNone looks at the nodes' versions.
func TestADryRunShowsHintsAndWritesNone(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	before := node(t, "n3")
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, byTaint+"dryRun: true\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "taint  n3") {
		t.Errorf("exit %d; the report shows no hint on n3", r.code)
	}
	if after := node(t, "n3"); after.ResourceVersion != before.ResourceVersion {
		t.Error("the dry run wrote to n3")
	}
	wantEvictions(t, ns, 0)
}

// TestSteeringByLabelNeedsPodsThatListen: the label moves nothing for pods
// without node affinity against it.
func TestSteeringByLabelNeedsPodsThatListen(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones+"evictor: {steer: label}\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "not steered: it has no node affinity that looks at the label") {
		t.Errorf("exit %d", r.code)
	}
	wantEvictions(t, ns, 0)
}

// held runs a pass whose replacement finds no node: all are cordoned just before
// the eviction. It returns once the replacement waits for a node.
func held(t *testing.T, ns, config string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	t.Cleanup(func() { cordon(t, false) })
	kubeconfig := proxied(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if isEviction(r) {
			cordon(t, true)
		}
		return false
	})
	var log bytes.Buffer
	cmd := exec.Command(testbed.Evenkeel, "run", "--once", "--config", config, "--kubeconfig", kubeconfig, "--lease-namespace", ns)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	t.Cleanup(func() {
		once.Do(func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() })
		if t.Failed() {
			t.Log(log.String())
		}
	})
	if err := seed.Until(t.Context(), 20*time.Second, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=d"})
		if err != nil {
			return false, err
		}
		waits := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
		if !waits {
			return false, fmt.Errorf("no pod of d waits for a node")
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	return cmd, &log
}

// TestAKilledPassLeavesHintsThatExpire kills a pass in the middle of a steered
// wave. Its hint has an expiry; hints gc takes it away after that, not before,
// and leaves alone a taint that somebody added meanwhile.
func TestAKilledPassLeavesHintsThatExpire(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	cmd, _ := held(t, ns, testbed.ConfigFile(t, zones+"evictor: {steer: taint, steerTTL: 20s}\n"))
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left := wantHints(t, "n3")
	foreign(t, "n3", "example.org/other")
	cordon(t, false)

	if time.Now().After(left[0].expires) {
		t.Fatalf("the hint expired at %s already", left[0].expires)
	}
	if r := evenkeel(t, "hints", "list"); r.code != 0 || !strings.Contains(r.stdout, "n3    taint  "+left[0].run) {
		t.Errorf("exit %d; hints list does not show n3", r.code)
	}
	if r := evenkeel(t, "hints", "gc"); r.code != 0 || !strings.Contains(r.stdout, "The hint on n3 stays") {
		t.Errorf("exit %d; hints gc does not say that the hint stays", r.code)
	}
	wantHints(t, "n3")

	if err := seed.Until(t.Context(), time.Minute, func() (bool, error) { return time.Now().After(left[0].expires), nil }); err != nil {
		t.Fatal(err)
	}
	if r := evenkeel(t, "hints", "gc"); r.code != 0 || !strings.Contains(r.stdout, "Took the hint off n3.") {
		t.Errorf("exit %d; hints gc does not take the hint away", r.code)
	}
	wantHints(t)
	wantForeign(t, "n3", "example.org/other")
	wantZones(t, ns, "d", 2, 2, 2)
}

// TestATerminatedPassTakesItsHintsAway: on SIGTERM in the middle of a wave.
func TestATerminatedPassTakesItsHintsAway(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	cmd, log := held(t, ns, testbed.ConfigFile(t, byTaint))
	wantHints(t, "n3")
	start := time.Now()
	if err := cmd.Process.Signal(syscallTerm); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "the pass stopped early: Interrupted") {
		t.Errorf("%v, want exit 1, since the pass did not come to its end\n%s", err, log)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	wantHints(t)
}

// TestTheNextPassTakesOldHintsAway: the successor of a killed process cleans up
// what has expired, before it looks at the cluster.
func TestTheNextPassTakesOldHintsAway(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{2, 2, 2}, 0))
	writeOldHint(t, "n2")
	if r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, byTaint), "--lease-namespace", ns); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wantHints(t)
	writeOldHint(t, "n2")
	if r := evenkeel(t, "hints", "clear"); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wantHints(t)
}

// TestForeignTaintsSurvive writes a taint between the read and the write of each
// of the two writes of a wave.
func TestForeignTaintsSurvive(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	var writes atomic.Int32
	kubeconfig := proxied(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch && r.URL.Path == "/api/v1/nodes/n3" {
			if n := writes.Add(1); n == 1 || n == 3 {
				foreign(t, "n3", fmt.Sprintf("example.org/write-%d", n))
			}
		}
		return false
	})
	r := evenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, byTaint), "--lease-namespace", ns)
	if r.code != 0 || writes.Load() != 4 {
		t.Errorf("exit %d after %d writes, want 4: two conflicts and two that hold", r.code, writes.Load())
	}
	wantHints(t)
	wantForeign(t, "n3", "example.org/write-1", "example.org/write-3")
	wantZones(t, ns, "d", 2, 2, 2)
}

// TestSteeringNeedsOnePermission: without it nothing is evicted, and with get
// and patch on nodes alone it works.
func TestSteeringNeedsOnePermission(t *testing.T) {
	rights := []rbacv1.PolicyRule{
		leasing, remembering,
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
	}
	t.Run("missing", func(t *testing.T) {
		ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
		r := evenkeelAs(t, account(t, ns, rights...), "run", "--once", "--config", testbed.ConfigFile(t, byTaint), "--lease-namespace", ns)
		if r.code != 1 || !strings.Contains(r.stderr, "PermissionMissing: permission to patch nodes is missing") {
			t.Errorf("exit %d", r.code)
		}
		wantEvictions(t, ns, 0)
	})
	t.Run("given", func(t *testing.T) {
		ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
		patch := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"patch"}}
		r := evenkeelAs(t, account(t, ns, append(rights, patch)...), "run", "--once", "--config", testbed.ConfigFile(t, byTaint), "--lease-namespace", ns)
		if r.code != 0 {
			t.Errorf("exit %d", r.code)
		}
		wantZones(t, ns, "d", 2, 2, 2)
		wantHints(t)
	})
}
