package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// addNodes creates the nodes n<first> to n<last> in three zones in turn, and deletes them, and
// n<last+1>, after the test.
func addNodes(t *testing.T, first, last int) {
	t.Helper()
	t.Cleanup(func() {
		for i := first; i <= last+1; i++ {
			if err := lab.Client.CoreV1().Nodes().Delete(context.Background(), fmt.Sprintf("n%d", i), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	for i := first; i <= last; i++ {
		n := seed.Node{Name: fmt.Sprintf("n%d", i), Zone: fmt.Sprintf("zone-%d", (i-1)%3+1)}
		must.Succeed(t, seed.CreateNode(t.Context(), lab.Client, n))
	}
}

const joinConfig = `
strategies:
  zones: {type: ZoneSpread, onNodeReady: 5s}
`

// TestANodeThatJoinsIsUsed checks that a strategy without a schedule runs after a node in a new zone joins a cluster of
// 50 nodes, and moves one pod there. A triggered pass afterwards moves nothing.
func TestANodeThatJoinsIsUsed(t *testing.T) {
	skipIfShort(t)
	addNodes(t, 4, 50)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 1000, MemoryMi: 1020, Nodes: []string{"n1", "n2", "n3", "n1", "n2", "n3"}}})
	config, port := testbed.ConfigFile(t, joinConfig), freePort(t)
	leader := startRun(t, lab.Kubeconfig, config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")

	joined := time.Now()
	must.Succeed(t, seed.CreateNode(t.Context(), lab.Client, seed.Node{Name: "n51", Zone: "zone-4"}))
	leader.log.waitFor(t, "that moves a pod to the new node", func(r testbed.Report) bool {
		return len(r.Outcomes()) == 1 && r.Outcomes()[0].Outcome == "evicted" && r.Outcomes()[0].Landed == "n51"
	})
	t.Logf("level %s after the node joined", time.Since(joined).Round(time.Second))
	checkEvictions(t, ns, 1)

	before := len(leader.log.parsedReports())
	if r := runEvenkeel(t, "trigger", "zones", "--lease-namespace", ns); r.code != 0 {
		t.Errorf("trigger: exit %d", r.code)
	}
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		if n := len(leader.log.parsedReports()); n <= before {
			return false, fmt.Errorf("%d reports, want more than %d", n, before)
		}
		return true, nil
	}))
	for _, r := range leader.log.parsedReports()[before:] {
		if len(r.Spec.Moves) != 0 || r.Status.Stopped != nil {
			t.Errorf("a pass after the move plans %d moves, stopped %v", len(r.Spec.Moves), r.Status.Stopped)
		}
	}
	checkEvictions(t, ns, 1)
}
