package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const constraintsConfig = `
strategies:
  constraints: {type: TopologySpread, schedule: "0 * * * *"}
limits: {perNamespace: unlimited}
`

// TestStrategiesRepairASpreadConstraint leaves a Deployment at 4/1/1, although its constraint
// allows a skew of 1: during a rollout, the nodes of two zones are cordoned, and the constraint
// does not count such nodes. One pass levels the zones, and a second one plans nothing.
func TestStrategiesRepairASpreadConstraint(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 100, MemoryMi: 100, Nodes: []string{"n1", "n2", "n3"}, ZoneSkew: 1}})
	patchDeployment(t, ns, `{"spec": {"template": {"spec": {"topologySpreadConstraints": [{"topologyKey": "topology.kubernetes.io/zone",
		"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"app": "d"}},
		"matchLabelKeys": ["pod-template-hash"]}]}}}}`)
	waitForDeployment(t, ns, "d", 3)
	checkZones(t, ns, "d", 1, 1, 1)
	closeNode := func(name string, closed bool) {
		patchNode(t, name, map[string]any{"spec": map[string]any{"unschedulable": closed}})
		editTaints(t, name, func(now []corev1.Taint) []corev1.Taint {
			now = slices.DeleteFunc(now, func(x corev1.Taint) bool { return x.Key == corev1.TaintNodeUnschedulable })
			if closed { // the constraint counts nodes by their taints
				now = append(now, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
			}
			return now
		})
	}
	for _, name := range []string{"n2", "n3"} {
		closeNode(name, true)
		t.Cleanup(func() { closeNode(name, false) })
	}
	patchDeployment(t, ns, `{"spec": {"replicas": 6}}`)
	waitForDeployment(t, ns, "d", 6)
	closeNode("n2", false)
	closeNode("n3", false)
	checkZones(t, ns, "d", 4, 1, 1)

	checkPasses(t, constraintsConfig, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2")
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
}

const duplicatesConfig = `
strategies:
  duplicates: {type: Duplicates, schedule: "0 * * * *", args: {ownerKinds: {include: [Deployment]}}}
limits: {perNamespace: unlimited}
`

// TestStrategiesSpreadDuplicates moves two of four equal pods from one node, and a second pass plans nothing.
func TestStrategiesSpreadDuplicates(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 100, MemoryMi: 100, Nodes: []string{"n1", "n1", "n1", "n1", "n2"}}})
	checkPasses(t, duplicatesConfig, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2")
	got, err := seed.PodsByZone(t.Context(), lab.Client, ns, "d")
	if err != nil || got["zone-1"] != 2 || got["zone-2"]+got["zone-3"] != 3 || max(got["zone-2"], got["zone-3"]) != 2 {
		t.Errorf("pods by zone: %v (%v), want 2 on zone-1, and 2 and 1 on the others", got, err)
	}
	checkEvictions(t, ns, 2)
}

// checkPasses checks the verdict of a plan, and makes two passes. The second one must plan no eviction.
func checkPasses(t *testing.T, conf, verdict string) {
	t.Helper()
	config := testbed.ConfigFile(t, conf)
	if p := runEvenkeel(t, "plan", "--config", config); !strings.Contains(p.stdout, verdict) {
		t.Errorf("the plan does not say %q", verdict)
	}
	for _, want := range []string{verdict, "Plan: nothing to do: the only goal is met"} {
		if r := runEvenkeel(t, "run", "--once", "--config", config); r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, or the report does not say %q:\n%s", r.code, want, r.stdout)
		}
	}
}

// waitForDeployment waits until all replicas of the current revision are ready and no other pod is left.
func waitForDeployment(t *testing.T, ns, name string, replicas int32) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		d, err := lab.Client.AppsV1().Deployments(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		s := d.Status
		if s.ObservedGeneration < d.Generation || s.UpdatedReplicas != replicas || s.ReadyReplicas != replicas || len(pods.Items) != int(replicas) {
			return false, fmt.Errorf("deployment %s: %d updated, %d ready, %d pods, want %d", name, s.UpdatedReplicas, s.ReadyReplicas, len(pods.Items), replicas)
		}
		return true, nil
	}))
}
