package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

func parseReport(t *testing.T, stdout string) (r testbed.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("stdout is not a report: %v", err)
	}
	return r
}

// shortVerifyConfig is a configuration with a verification timeout of 5 s; the seed pods add a grace period of 2 s.
const shortVerifyConfig = zonesConfig + "evictor: {verifyTimeout: 5s}\n"

// TestAWorkloadThatDoesNotSettleRests covers replacements that stay Pending, never become Ready, or return to their
// source. The report must show the failure. The next process must back off from the workload although the workload is
// as unbalanced as before.
func TestAWorkloadThatDoesNotSettleRests(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  string // configuration of the scheduler, unknown to Evenkeel
		evicted func() error
		after   func() error
		want    string
		exit    int
	}{
		{"stays pending", "", func() error { return lab.StopScheduler() },
			func() error { return lab.RestartScheduler(context.Background(), nil) }, "evicted ReplacementNotScheduled", 1},
		{"never ready", "", func() error { return lab.Component("kwok").Freeze() },
			func() error { return lab.Component("kwok").Thaw() }, "evicted ReplacementNotReady", 1},
		{"comes back", emptiestNodeConfig, nil, nil, "evicted LandedElsewhere", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 2))
			if c.config != "" {
				restartScheduler(t, c.config)
			}
			undo := undoOnce(t, c.after)
			config := testbed.ConfigFile(t, shortVerifyConfig)
			kubeconfig := callAtEviction(t, c.evicted)
			once := []string{"run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns}
			r := runEvenkeelAs(t, kubeconfig, once...)
			if got := parseReport(t, r.stdout).OutcomeCodes(); r.code != c.exit || !slices.Equal(got, []string{c.want}) {
				t.Errorf("exit %d, want %d; outcomes %q, want %s", r.code, c.exit, got, c.want)
			}
			undo()
			unbalance(t, ns)
			checkBackoff(t, ns, config)

			r = runEvenkeel(t, once...)
			again := parseReport(t, r.stdout)
			if r.code != 0 || len(again.Spec.Moves) != 0 || again.NotMoved()["BackedOff"] == 0 {
				t.Errorf("second process: exit %d, %d moves, rejections %v; want no move and BackedOff",
					r.code, len(again.Spec.Moves), again.NotMoved())
			}
			checkZones(t, ns, "d", 1, 2, 3)
			checkEvictions(t, ns, 1)
		})
	}
}

// emptiestNodeConfig makes the scheduler choose the emptiest node, wherever the other pods of the workload are.
const emptiestNodeConfig = `
profiles:
- schedulerName: default-scheduler
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 1}]}
`

// callAtEviction returns a kubeconfig whose proxy calls do just before the first eviction.
func callAtEviction(t *testing.T, do func() error) (kubeconfig string) {
	t.Helper()
	var once sync.Once
	return kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if isEviction(r) && do != nil {
			once.Do(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		return false
	})
}

// undoOnce returns a function that calls undo at most once. If the test does not call the function, its cleanup does.
func undoOnce(t *testing.T, undo func() error) func() {
	t.Helper()
	once := sync.OnceFunc(func() {
		if undo == nil {
			return
		}
		if err := undo(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(once)
	return once
}

// unbalance moves Deployment d back to 1/2/3 without evictions and waits until all its pods are Ready. A pass without
// history would then plan the same move again.
func unbalance(t *testing.T, ns string) {
	t.Helper()
	t.Cleanup(func() { setCordoned(t, false) })
	for _, name := range []string{"n1", "n2"} {
		patchNode(t, name, map[string]any{"spec": map[string]any{"unschedulable": true}})
	}
	ctx, api, now := t.Context(), lab.Client.CoreV1().Pods(ns), int64(0)
	must.Succeed(t, seed.WaitUntil(ctx, 30*time.Second, func() (bool, error) {
		list, err := api.List(ctx, metav1.ListOptions{LabelSelector: "app=d"})
		if err != nil {
			return false, err
		}
		at := map[string][]corev1.Pod{}
		for _, p := range list.Items {
			if p.DeletionTimestamp == nil {
				at[p.Spec.NodeName] = append(at[p.Spec.NodeName], p)
			}
		}
		for i, name := range []string{"n1", "n2"} {
			for _, p := range at[name][min(i+1, len(at[name])):] {
				if err := api.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
					return false, err
				}
			}
		}
		if n := len(at["n3"]); n != 3 {
			return false, fmt.Errorf("node n3 has %d pods of d, want 3", n)
		}
		return true, nil
	}))
	waitForRollout(t, ns, "d", 6)
	setCordoned(t, false)
	checkZones(t, ns, "d", 1, 2, 3)
}

// checkBackoff checks that a process without history would plan the move, and that explain names the backoff as the
// reason.
func checkBackoff(t *testing.T, ns, config string) {
	t.Helper()
	forgetful := testbed.Report{}
	r := runEvenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns+"-forgetful")
	must.Succeed(t, json.Unmarshal([]byte(r.stdout), &forgetful))
	if n := len(forgetful.Spec.Moves); n != 1 {
		t.Errorf("%d moves are planned without history, want 1, because otherwise the test proves nothing", n)
	}
	r = runEvenkeel(t, "explain", "workload", "deployment/"+ns+"/d", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stdout, "BackedOff") {
		t.Errorf("explain workload: exit %d, or the answer lacks BackedOff", r.code)
	}
}

// waitForPendingPod waits until Deployment d has a pod without a node.
func waitForPendingPod(t *testing.T, ns string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=d"})
		if err == nil && !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == "" }) {
			err = fmt.Errorf("every pod of d has a node")
		}
		return err == nil, err
	}))
}

// runProcess is a running `evenkeel run` process, either the leader or a standby.
type runProcess struct {
	cmd *exec.Cmd
	log reportBuffer
}

// startRun starts `evenkeel run`, with further flags. At the end of the test, startRun kills it and deletes its Lease,
// so that the next test finds no release that seems to be active.
func startRun(t *testing.T, kubeconfig, config, ns, bind string, flags ...string) *runProcess {
	t.Helper()
	s := &runProcess{cmd: exec.Command(testbed.Evenkeel, slices.Concat([]string{"run", "--config", config,
		"--kubeconfig", kubeconfig, "--lease-namespace", ns, "--bind-address", bind}, testbed.ReportFlags, flags)...)}
	s.cmd.Stderr = &s.log
	must.Succeed(t, s.cmd.Start())
	t.Cleanup(func() {
		s.kill()
		err := lab.Client.CoordinationV1().Leases(ns).Delete(context.Background(), "evenkeel", metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleting the Lease in %s: %v", ns, err)
		}
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s
}

// kill ends the process without a graceful shutdown, as a machine failure does.
func (s *runProcess) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// TestAWorkloadRestsAcrossAChangeOfLeader kills the leader while it waits for a replacement that stays Pending. The
// standby replica takes over, reports the eviction with an unknown outcome, and evicts no other pod.
func TestAWorkloadRestsAcrossAChangeOfLeader(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 2))
	start := undoOnce(t, func() error { return lab.RestartScheduler(context.Background(), nil) })
	config := testbed.ConfigFile(t, strings.ReplaceAll(zonesConfig, "0 * * * *", "* * * * *")+"evictor: {verifyTimeout: 2m}\n")
	port := freePort(t)
	first := startRun(t, callAtEviction(t, lab.StopScheduler), config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	port = freePort(t)
	second := startRun(t, lab.Kubeconfig, config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 0")

	waitForPendingPod(t, ns)
	first.kill()
	start()
	unbalance(t, ns)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	second.log.waitFor(t, "about the killed leader's eviction", func(r testbed.Report) bool {
		return slices.Equal(r.OutcomeCodes(), []string{"unknown OutcomeUnknown"}) && r.Status.Stopped != nil && r.Status.Stopped.Code == "Interrupted"
	})
	second.log.waitFor(t, "of a pass that backs off from the workload", func(r testbed.Report) bool {
		return len(r.Spec.Moves) == 0 && r.NotMoved()["BackedOff"] > 0
	})
	checkBackoff(t, ns, config)
	checkZones(t, ns, "d", 1, 2, 3)
	checkEvictions(t, ns, 1)
}
