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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// passReport is what tests look at in a RunReport.
type passReport struct {
	Plan struct {
		ID         string
		Moves      []any
		Rejections struct{ Counts map[string]int }
	}
	Approval *struct{ By string }
	Outcomes []struct {
		Outcome, Landed string
		Reason          struct{ Code string }
	}
	Stopped *struct{ Code, Message string }
}

func (r passReport) codes() (out []string) {
	for _, o := range r.Outcomes {
		out = append(out, o.Outcome+" "+o.Reason.Code)
	}
	return out
}

func parseReport(t *testing.T, stdout string) (r passReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("no report on stdout: %v", err)
	}
	return r
}

// impatient waits for a replacement for 5 s and the 2 s of grace of the seed.
const impatient = zones + "evictor: {verifyTimeout: 5s}\n"

// TestAWorkloadThatDoesNotSettleRests: a replacement that stays Pending, never
// becomes Ready, or comes back to where it was, is seen and reported; the next
// process leaves the workload alone, though it is as uneven as before.
func TestAWorkloadThatDoesNotSettleRests(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  string // of the scheduler, which Evenkeel does not know
		evicted func() error
		after   func() error
		want    string
		exit    int
	}{
		{"stays pending", "", func() error { return lab.StopScheduler() },
			func() error { return lab.Reschedule(context.Background(), nil) }, "evicted ReplacementNotScheduled", 1},
		{"never ready", "", func() error { return lab.Component("kwok").Freeze() },
			func() error { return lab.Component("kwok").Thaw() }, "evicted ReplacementNotReady", 1},
		{"comes back", emptiest, nil, nil, "evicted LandedElsewhere", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 2))
			if c.config != "" {
				reschedule(t, c.config)
			}
			undo := undoing(t, c.after)
			config := testbed.ConfigFile(t, impatient)
			kubeconfig := atEviction(t, c.evicted)
			once := []string{"run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns}
			r := evenkeelAs(t, kubeconfig, once...)
			if got := parseReport(t, r.stdout).codes(); r.code != c.exit || !slices.Equal(got, []string{c.want}) {
				t.Errorf("exit %d, want %d; outcomes %q, want %s", r.code, c.exit, got, c.want)
			}
			undo()
			tilt(t, ns)
			wantRest(t, ns, config)

			r = evenkeel(t, once...)
			again := parseReport(t, r.stdout)
			if r.code != 0 || len(again.Plan.Moves) != 0 || again.Plan.Rejections.Counts["BackedOff"] == 0 {
				t.Errorf("the second process: exit %d, %d moves, rejections %v; want no move and BackedOff", r.code, len(again.Plan.Moves), again.Plan.Rejections.Counts)
			}
			wantZones(t, ns, "d", 1, 2, 3)
			wantEvictions(t, ns, 1)
		})
	}
}

// emptiest makes the scheduler fill the emptiest node, wherever the other pods
// of a workload are.
const emptiest = `
profiles:
- schedulerName: default-scheduler
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 1}]}
`

// atEviction is a way to the API server on which something happens just before
// the first eviction is asked for.
func atEviction(t *testing.T, do func() error) (kubeconfig string) {
	t.Helper()
	var once sync.Once
	return proxied(t, func(_ http.ResponseWriter, r *http.Request) bool {
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

// undoing undoes something once: when it is called, or at the end of the test.
func undoing(t *testing.T, undo func() error) func() {
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

// tilt brings Deployment d back to 1/2/3 without an eviction, and waits until all
// of it is Ready: what would be planned for it is planned again.
func tilt(t *testing.T, ns string) {
	t.Helper()
	t.Cleanup(func() { cordon(t, false) })
	for _, name := range []string{"n1", "n2"} {
		patchNode(t, name, map[string]any{"spec": map[string]any{"unschedulable": true}})
	}
	ctx, api, now := t.Context(), lab.Client.CoreV1().Pods(ns), int64(0)
	if err := seed.Until(ctx, 30*time.Second, func() (bool, error) {
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
			return false, fmt.Errorf("%d pods of d on n3, want 3", n)
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, ns, "d", 6)
	cordon(t, false)
	wantZones(t, ns, "d", 1, 2, 3)
}

// wantRest: what would be moved by somebody who remembers nothing is not moved,
// and explain says that it rests.
func wantRest(t *testing.T, ns, config string) {
	t.Helper()
	var forgetful passReport
	r := evenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns+"-forgetful")
	if err := json.Unmarshal([]byte(r.stdout), &forgetful.Plan); err != nil {
		t.Fatal(err)
	}
	if n := len(forgetful.Plan.Moves); n != 1 {
		t.Errorf("%d moves are planned where nothing is remembered, want 1: the test shows nothing", n)
	}
	r = evenkeel(t, "explain", "workload", "deployment/"+ns+"/d", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stdout, "BackedOff") {
		t.Errorf("explain workload: exit %d; it does not name BackedOff", r.code)
	}
}

// waitingPod waits until a pod of d has no node.
func waitingPod(t *testing.T, ns string) {
	t.Helper()
	if err := seed.Until(t.Context(), 2*time.Minute, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=d"})
		if err == nil && !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == "" }) {
			err = fmt.Errorf("no pod of d waits for a node")
		}
		return err == nil, err
	}); err != nil {
		t.Fatal(err)
	}
}

// standby is a process that makes passes, or stands by to.
type standby struct {
	cmd    *exec.Cmd
	stdout seenReports
	stderr locked
}

// startRun starts `evenkeel run`; it is killed at the end of the test.
func startRun(t *testing.T, kubeconfig, config, ns, bind string) *standby {
	t.Helper()
	s := &standby{cmd: exec.Command(testbed.Evenkeel, "run", "--config", config, "--kubeconfig", kubeconfig, "--lease-namespace", ns, "--bind-address", bind)}
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s\n%s", s.stdout.String(), s.stderr.String())
		}
	})
	return s
}

// kill ends it as a machine that fails would.
func (s *standby) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// TestAWorkloadRestsAcrossAChangeOfLeader kills the leader while it waits for a
// replacement that stays Pending. Its successor, which stood by, says what became
// of the eviction and makes no other.
func TestAWorkloadRestsAcrossAChangeOfLeader(t *testing.T) {
	long(t)
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 2))
	start := undoing(t, func() error { return lab.Reschedule(context.Background(), nil) })
	config := testbed.ConfigFile(t, strings.ReplaceAll(zones, "0 * * * *", "* * * * *")+"evictor: {verifyTimeout: 2m}\n")
	port := freePort(t)
	first := startRun(t, atEviction(t, lab.StopScheduler), config, ns, port)
	awaitMetric(t, "http://"+port, "evenkeel_leader 1")
	port = freePort(t)
	second := startRun(t, lab.Kubeconfig, config, ns, port)
	awaitMetric(t, "http://"+port, "evenkeel_leader 0")

	waitingPod(t, ns)
	first.kill()
	start()
	tilt(t, ns)
	awaitMetric(t, "http://"+port, "evenkeel_leader 1")
	second.stdout.await(t, "that tells of the killed leader's eviction", func(r passReport) bool {
		return slices.Equal(r.codes(), []string{"unknown OutcomeUnknown"}) && r.Stopped != nil && r.Stopped.Code == "Interrupted"
	})
	second.stdout.await(t, "of a pass that leaves the workload alone", func(r passReport) bool {
		return len(r.Plan.Moves) == 0 && r.Plan.Rejections.Counts["BackedOff"] > 0
	})
	wantRest(t, ns, config)
	wantZones(t, ns, "d", 1, 2, 3)
	wantEvictions(t, ns, 1)
}
