package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// approvalDelay is the time between a plan and its approval. Saved plans of `evenkeel apply` expire after 15 minutes.
var approvalDelay = flag.Duration("approval-delay", time.Minute, "time between a plan and its approval")

// modesConfig has three strategies in three modes. Strategy zones runs at two minutes only, so that
// its plan waits while the others make a pass every minute.
const modesConfig = `
strategies:
  zones: {type: ZoneSpread, schedule: "%s", mode: approve}
  cpu: {type: NodeLoad, schedule: "* * * * *", args: {basis: requests, target: {cpu: 0.9}}}
  memory: {type: NodeLoad, schedule: "* * * * *", mode: dryRun, args: {basis: requests, target: {memory: 0.9}}}
limits: {perPass: 50, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {backoff: 20s}
`

// modesApps are the workloads of two node pools. Pool n1 to n3 has the uneven Deployment d. In pool
// p1 and p2, which is in one zone, strategy cpu wants to move a pod of app cpu to p2, and strategy
// memory wants to move one of app memory to p1.
func modesApps() []seed.App {
	first, second := []string{"n1", "n2", "n3"}, []string{"p1", "p2"}
	repeat := func(node string, n int) []string { return slices.Repeat([]string{node}, n) }
	return []seed.App{
		{Name: "d", MilliCPU: 100, MemoryMi: 100, AllowedNodes: first, Nodes: append([]string{"n1", "n2"}, repeat("n3", 10)...)},
		{Name: "cpu", MilliCPU: 1350, MemoryMi: 10, AllowedNodes: second, Nodes: repeat("p1", 7)},
		{Name: "memory", MilliCPU: 10, MemoryMi: 1350, AllowedNodes: second, Nodes: repeat("p2", 7)},
		{Name: "churn", MilliCPU: 10, MemoryMi: 10, AllowedNodes: second, Nodes: []string{"p1", "p2"}},
	}
}

// waitForWaitingReport waits for a matching report of the process.
func waitForWaitingReport(t *testing.T, p *runProcess, limit time.Duration, what string, is func(testbed.Report) bool) (found testbed.Report) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), limit, func() (bool, error) {
		for _, r := range testbed.Reports(p.log.String()) {
			if is(r) {
				found = r
				return true, nil
			}
		}
		return false, fmt.Errorf("no report %s", what)
	}))
	return found
}

// listSteps returns the lines of strategy zones in the list of `evenkeel approve`: number,
// strategy, pod, from, to, state.
func listSteps(t *testing.T, ns string) (steps [][]string) {
	t.Helper()
	r := runEvenkeel(t, "approve", "--lease-namespace", ns)
	for line := range strings.Lines(r.stdout) {
		if f := strings.Fields(line); len(f) > 6 && f[1] == "zones" {
			steps = append(steps, f)
		}
	}
	if r.code != 0 || len(steps) == 0 {
		t.Fatalf("exit %d; the list has no steps: %s", r.code, r.stdout)
	}
	return steps
}

// waitForPlan waits until a plan with five steps of strategy zones waits for approval. It returns its name and steps.
func waitForPlan(t *testing.T, ns string) (name string, steps [][]string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 4*time.Minute, func() (bool, error) {
		r := runEvenkeel(t, "approve", "--lease-namespace", ns)
		if found := regexp.MustCompile(`(?m)^Plan ([^, ]+)`).FindStringSubmatch(r.stdout); found != nil && strings.Count(r.stdout, " zones ") >= 5 {
			name = found[1]
		}
		if name == "" {
			return false, fmt.Errorf("no plan waits: %s", r.stdout)
		}
		return true, nil
	}))
	return name, listSteps(t, ns)
}

// podOfStep returns the pod's name.
func podOfStep(steps [][]string, n int) string {
	_, name, _ := strings.Cut(steps[n-1][2], "/")
	return name
}

// startChurn deletes the pods of app churn, one every few seconds, until the test ends.
func startChurn(t *testing.T, ns string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		now := int64(0)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(5 * time.Second):
			}
			pods, err := lab.Client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=churn"})
			if err == nil && len(pods.Items) > 0 {
				_ = lab.Client.CoreV1().Pods(ns).Delete(ctx, pods.Items[0].Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
			}
		}
	}()
}

// TestThreeModes runs three strategies in three modes over two node pools with churn, with two replicas. The
// audit log must show only evictions of what was allowed. Approved steps are executed long after their plan was made, a
// step that is stale is dropped, discarded steps stay away, and an approval survives the death of the leader.
func TestThreeModes(t *testing.T) {
	skipIfShort(t)
	createPool(t)
	ns := seedApps(t, modesApps())
	startChurn(t, ns)
	first := time.Now().UTC().Add(70 * time.Second)
	second := first.Add(*approvalDelay + 7*time.Minute)
	config := testbed.ConfigFile(t, fmt.Sprintf(modesConfig, fmt.Sprintf("%d,%d * * * *", first.Minute(), second.Minute())))
	var hold atomic.Bool
	held := make(chan string, 10)
	port := freePort(t)
	leader := startRun(t, kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if !isEviction(r) || !hold.Load() {
			return false
		}
		held <- r.URL.Path // the eviction never reaches the API server
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
		return true
	}), config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	port = freePort(t)
	standby := startRun(t, lab.Kubeconfig, config, ns, port)

	id, steps := waitForPlan(t, ns)
	if r := runEvenkeel(t, "discard", id, "--steps", "1", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("discard: exit %d", r.code)
	}
	now := int64(0)
	must.Succeed(t, lab.Client.CoreV1().Pods(ns).Delete(t.Context(), podOfStep(steps, 2), metav1.DeleteOptions{GracePeriodSeconds: &now}))
	time.Sleep(*approvalDelay) // the plan gets old
	r := runEvenkeel(t, "approve", id, "--steps", "2,3", "--wait", "110s", "-o", "json", "--lease-namespace", ns)
	var report testbed.Report
	if err := json.Unmarshal([]byte(r.stdout[strings.Index(r.stdout, "{"):]), &report); err != nil || r.code != 0 || len(report.Outcomes()) != 2 {
		t.Fatalf("approve: exit %d, %v, %+v", r.code, err, report)
	}
	if report.Outcomes()[0].Step != 2 || report.Outcomes()[0].Reason.Code != "PodGone" || report.Outcomes()[1].Outcome != "evicted" {
		t.Errorf("outcomes %+v, want the stale step 2 gone and step 3 evicted", report.Outcomes())
	}

	hold.Store(true)
	if r := runEvenkeel(t, "approve", id, "--steps", "4", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("approve: exit %d", r.code)
	}
	waitForHeldEviction(t, held, podOfStep(steps, 4))
	leader.kill()
	resumed := waitForWaitingReport(t, standby, 8*time.Minute, "of the resumed plan",
		func(r testbed.Report) bool { return len(r.Status.Steps) > 0 && r.Status.Steps[0].DecidedBy != "" })
	if got := resumed.Outcomes(); len(got) != 1 || got[0].Step != 4 || got[0].Outcome != "evicted" {
		t.Errorf("the resumed plan: %+v", resumed)
	}
	waitForWaitingReport(t, standby, 12*time.Minute, "of a later pass of strategy zones", func(r testbed.Report) bool {
		return len(r.Spec.Strategies) > 0 && r.Spec.Strategies[0].Name == "zones" && r.Spec.Strategies[0].Due
	})
	for _, s := range listSteps(t, ns) {
		if _, name, _ := strings.Cut(s[2], "/"); name == podOfStep(steps, 1) && s[5] != "discarded" {
			t.Errorf("the discarded step waits again: %q", s)
		}
	}
	checkAllowedEvictions(t, ns, podOfStep(steps, 3), podOfStep(steps, 4))
}

// createPool creates the nodes p1 and p2, and removes them at the end.
func createPool(t *testing.T) {
	t.Helper()
	for _, name := range []string{"p1", "p2"} {
		t.Cleanup(func() {
			if err := lab.Client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
		must.Succeed(t, seed.CreateNode(t.Context(), lab.Client, seed.Node{Name: name, Zone: "zone-1"}))
	}
}

// waitForHeldEviction waits until the proxy holds the eviction of the pod.
func waitForHeldEviction(t *testing.T, held <-chan string, pod string) {
	t.Helper()
	limit := time.After(3 * time.Minute)
	for {
		select {
		case path := <-held:
			if strings.Contains(path, "/pods/"+pod+"/") {
				return
			}
		case <-limit:
			t.Fatal("no approved eviction reached the proxy")
		}
	}
}

// checkAllowedEvictions checks the audit log: each approved pod was evicted once. Otherwise, only pods of the automatic
// strategy were evicted.
func checkAllowedEvictions(t *testing.T, ns string, approved ...string) {
	t.Helper()
	events := must.Get(lab.Evictions(ns))(t)
	counts, automatic := map[string]int{}, 0
	for _, e := range events {
		if e.ResponseStatus == nil || e.ResponseStatus.Code != 201 {
			continue
		}
		switch name := e.ObjectRef.Name; {
		case slices.Contains(approved, name):
			counts[name]++
		case strings.HasPrefix(name, "cpu-"):
			automatic++
		default:
			t.Errorf("pod %s was evicted, but nobody has approved that", name)
		}
	}
	for _, name := range approved {
		if counts[name] != 1 {
			t.Errorf("pod %s was evicted %d times, want once", name, counts[name])
		}
	}
	if automatic == 0 {
		t.Error("the automatic strategy evicted nothing, so the test proves nothing")
	}
}
