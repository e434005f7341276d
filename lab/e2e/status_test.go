package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// checkStatus waits until `evenkeel status` contains all texts, whatever the line breaks.
func checkStatus(t *testing.T, ns, situation string, limit time.Duration, want ...string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), limit, func() (bool, error) {
		r := runEvenkeel(t, "status", "--lease-namespace", ns)
		text := strings.Join(strings.Fields(r.stdout), " ")
		for _, w := range want {
			if r.code != 0 || !strings.Contains(text, w) {
				return false, fmt.Errorf("status (exit %d) lacks %q:\n%s%s", r.code, w, r.stdout, r.stderr)
			}
		}
		t.Logf("%s:\n%s", situation, r.stdout)
		return true, nil
	}))
}

// TestStatusAndHistory lets a release make a pass, asks where the evicted pods are, pauses the release, and kills it.
func TestStatusAndHistory(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	p := startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, strings.Replace(zonesConfig, "0 * * * *", "* * * * *", 1)), ns, freePort(t))
	checkStatus(t, ns, "no pass yet", 30*time.Second, "no pass yet", "Leader")
	checkStatus(t, ns, "all well", 2*time.Minute, "all is well", "Nothing to do.", "2 moves, 2 evicted, 2 as predicted", "zones automatic")

	all := storedPlans(t, ns)
	for i, s := range all[0].Status.Steps {
		pod := must.Get(lab.Client.CoreV1().Pods(ns).Get(t.Context(), s.Replacement.Name, metav1.GetOptions{}))(t)
		evicted := ns + "/" + all[0].Spec.Moves[i].Pod.Name
		for _, name := range []string{evicted, ns + "/" + pod.Name} {
			want := fmt.Sprintf("%s on n3 -> %s/%s on %s", evicted, ns, pod.Name, pod.Spec.NodeName)
			if r := runEvenkeel(t, "history", "pod", name, "--lease-namespace", ns); r.code != 0 || !strings.Contains(r.stdout, want) {
				t.Errorf("history of %s: exit %d, want %q", name, r.code, want)
			}
		}
		if r := runEvenkeel(t, "explain", "pod", evicted, "--lease-namespace", ns); r.code != 1 || !strings.Contains(r.stderr, "evenkeel history pod "+evicted) {
			t.Errorf("explain of %s: exit %d, want a pointer to the history", evicted, r.code)
		}
	}
	for _, args := range [][]string{{"workload", "deploy/d", "-n", ns}, {"node", "n3"}} {
		if r := runEvenkeel(t, append([]string{"history", "--lease-namespace", ns}, args...)...); r.code != 0 || !strings.HasPrefix(r.stdout, "2 moves of ") {
			t.Errorf("history %v: exit %d, want 2 moves", args, r.code)
		}
	}

	runEvenkeel(t, "pause", "--reason", "release 42", "--lease-namespace", ns)
	checkStatus(t, ns, "paused by a colleague", 10*time.Second, "evictions are paused", "release 42", "evenkeel resume")
	runEvenkeel(t, "resume", "--lease-namespace", ns)
	p.kill()
	old := time.Now().Add(-time.Hour).UTC().Format(metav1.RFC3339Micro)
	must.Get(lab.Client.CoordinationV1().Leases(ns).Patch(t.Context(), "evenkeel", types.MergePatchType, []byte(`{"spec":{"renewTime":"`+old+`"}}`),
		metav1.PatchOptions{}))(t)
	checkStatus(t, ns, "no leader", 10*time.Second, "no process leads", "1h ago", "kubectl -n "+ns+" get")
}

// TestStatusOfAnApproval: a plan waits for the decision of a person.
func TestStatusOfAnApproval(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, strings.Replace(zonesConfig, "ZoneSpread,", "ZoneSpread, mode: approve,", 1))
	if r := runEvenkeel(t, "run", "--once", "--config", config, "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("exit %d", r.code)
	}
	checkStatus(t, ns, "a plan waits for approval", 10*time.Second, "a plan waits for approval", "wants to evict 2 pods of namespace "+ns+", for strategy zones",
		"evenkeel approve ", "zones approve")
}

// TestStatusWithoutUsage: the source of measured usage does not answer.
func TestStatusWithoutUsage(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{2, 2, 2}, 30))
	address := freePort(t) // nothing listens there
	startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, strings.Replace(zonesConfig, "0 * * * *", "* * * * *", 1)+
		"  hot: {type: NodeLoad, schedule: \"* * * * *\", args: {basis: load, target: {cpu: 0.8}}}\n"+
		"load: {source: prometheus, interval: 5s, prometheus: {url: \"http://"+address+"\"}}\n"), ns, freePort(t))
	checkStatus(t, ns, "the source of usage is silent", 2*time.Minute, "Prometheus does not answer, so strategy hot does nothing", "prometheus: no answer since", address, "connection refused")
}

// TestStatusOfAnOpenBreaker: a node is not Ready, which is more than the configuration allows.
func TestStatusOfAnOpenBreaker(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	broken := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "broken"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(time.Now().Add(time.Hour))}}}} // not one that starts
	must.Get(lab.Client.CoreV1().Nodes().Create(t.Context(), broken, metav1.CreateOptions{}))(t)
	defer func() {
		must.Succeed(t, lab.Client.CoreV1().Nodes().Delete(context.Background(), "broken", metav1.DeleteOptions{}))
	}()
	config := testbed.ConfigFile(t, zonesConfig+"evictor: {breaker: {maxUnreadyNodesFrac: 0.1}}\n")
	runEvenkeel(t, "run", "--once", "--config", config, "--lease-namespace", ns)
	checkStatus(t, ns, "breaker open", 10*time.Second, "the breaker is open", "1 of 4 nodes are not Ready", `for example "broken"`, "none made, because the pass was stopped (BreakerOpen)", "kubectl get nodes", "closes it")
}
