package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const (
	affinityConfig = `
limits: {perOwner: unlimited, perNamespace: unlimited}
strategies:
  affinity: {type: NodeAffinity, schedule: "0 * * * *", args: {preferred: true}}
`
	taintsConfig = `
limits: {perOwner: unlimited, perNamespace: unlimited}
strategies:
  taints: {type: NodeTaints, schedule: "0 * * * *", args: {preferNoSchedule: true}}
`
)

// TestStrategiesNodeViolations checks that the pods of web leave a node that their affinity does not prefer, or that
// has a taint, and that a second pass moves nothing.
func TestStrategiesNodeViolations(t *testing.T) {
	skipIfShort(t)
	web := func(nodes ...string) seed.App {
		return seed.App{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: nodes, GraceSeconds: 1}
	}
	allowed, preferred := web("n1", "n1", "n2"), web("n1", "n3")
	allowed.AllowedNodes, preferred.PreferredNodes = []string{"n2", "n3"}, []string{"n3"}
	for name, c := range map[string]struct {
		config    string
		app       seed.App
		taint     corev1.TaintEffect // of n1
		evictions int
		left      string // the node on which no pod of web may remain
	}{
		"required affinity":  {affinityConfig, allowed, "", 2, "n1"},
		"preferred affinity": {affinityConfig, preferred, "", 1, "n1"},
		"NoSchedule":         {taintsConfig, web("n1", "n1", "n2"), corev1.TaintEffectNoSchedule, 2, "n1"},
		"PreferNoSchedule":   {taintsConfig, web("n1", "n2"), corev1.TaintEffectPreferNoSchedule, 1, "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, []seed.App{c.app})
			if c.taint != "" {
				taintNode(t, "n1", c.taint)
			}
			config := testbed.ConfigFile(t, c.config)
			first := onePass(t, config, ns)
			if len(first.Outcomes()) != c.evictions {
				t.Errorf("the first pass has the outcomes %q, want %d evictions", first.OutcomeCodes(), c.evictions)
			}
			if nodes := nodesOf(t, ns, "web"); slices.Contains(nodes, c.left) {
				t.Errorf("the pods are on %v after the pass, want none on %s", nodes, c.left)
			}
			if second := onePass(t, config, ns); len(second.Spec.Moves) > 0 {
				t.Errorf("the second pass plans %d moves, want none", len(second.Spec.Moves))
			}
			checkEvictions(t, ns, c.evictions)
		})
	}
}

// TestStrategiesPreferenceWithoutABetterNode makes ten passes over pods that prefer a node that
// does not exist, as in issue 1707 of the descheduler, or that is full, as in its issue 1410. The
// descheduler evicts such pods again and again.
func TestStrategiesPreferenceWithoutABetterNode(t *testing.T) {
	skipIfShort(t)
	for name, node := range map[string]string{"missing": "n9", "full": "n3"} {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, []seed.App{
				{Name: "full", MilliCPU: 9700, MemoryMi: 512, Nodes: []string{"n3"}, GraceSeconds: 1},
				{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n1", "n2"}, GraceSeconds: 1, PreferredNodes: []string{node}},
			})
			config, before := testbed.ConfigFile(t, affinityConfig), podUIDs(t, ns)
			for i := range 10 {
				if r := onePass(t, config, ns); len(r.Spec.Moves) > 0 {
					t.Fatalf("pass %d plans %d moves, want none", i+1, len(r.Spec.Moves))
				}
			}
			checkEvictions(t, ns, 0)
			if after := podUIDs(t, ns); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the pods changed: %v, before %v", after, before)
			}
		})
	}
}

// taintNode adds a taint to a node until the test ends.
func taintNode(t *testing.T, node string, effect corev1.TaintEffect) {
	t.Helper()
	const key = "example.com/left"
	editTaints(t, node, func(all []corev1.Taint) []corev1.Taint { return append(all, corev1.Taint{Key: key, Effect: effect}) })
	t.Cleanup(func() {
		editTaints(t, node, func(all []corev1.Taint) []corev1.Taint {
			return slices.DeleteFunc(all, func(x corev1.Taint) bool { return x.Key == key })
		})
	})
}

// onePass makes one pass of all strategies and returns its report.
func onePass(t *testing.T, config, ns string) testbed.Report {
	t.Helper()
	r := runEvenkeel(t, "run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns)
	if r.code > 1 {
		t.Fatalf("exit %d", r.code)
	}
	return parseReport(t, r.stdout)
}

// nodesOf returns the nodes of an app's pods that do not terminate.
func nodesOf(t *testing.T, ns, app string) (nodes []string) {
	t.Helper()
	pods := must.Get(lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app}))(t)
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			nodes = append(nodes, pods.Items[i].Spec.NodeName)
		}
	}
	return nodes
}

const podsConfig = `
limits: {perOwner: unlimited, perNamespace: unlimited}
strategies:
  crowded: {type: NodeLoad, schedule: "0 * * * *", args: {target: {pods: 0.03}, below: {pods: 0.02}, numberOfNodes: 1}}
`

// TestStrategiesNodeLoadPods leaves 6 of 8 pods on n1. A node allows 110 pods, so 3 % are 3 pods, and n2 and n3 are
// under-utilized. One pass moves 3 pods, and a second one plans nothing.
func TestStrategiesNodeLoadPods(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 10, MemoryMi: 10, GraceSeconds: 1,
		Nodes: []string{"n1", "n1", "n1", "n1", "n1", "n1", "n2", "n3"}}})
	config := testbed.ConfigFile(t, podsConfig)
	for _, want := range []string{"Plan: 3 evictions meet 1 of 1 goals; lower bound 3", "Plan: nothing to do: all 3 goals are met"} {
		if r := runEvenkeel(t, "run", "--once", "--config", config); r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, or the report does not say %q:\n%s", r.code, want, r.stdout)
		}
	}
	got, err := seed.PodsByZone(t.Context(), lab.Client, ns, "d")
	if err != nil || got["zone-1"] != 3 || got["zone-2"]+got["zone-3"] != 5 {
		t.Errorf("pods by zone: %v (%v), want 3 on zone-1, and 5 on the others", got, err)
	}
	checkEvictions(t, ns, 3)
}
