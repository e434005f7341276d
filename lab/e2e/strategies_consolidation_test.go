package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const consolidationConfig = `
limits: {perOwner: unlimited, perNamespace: unlimited}
evictor: {steer: taint}
strategies:
  pack: {type: NodeConsolidation, schedule: "0 * * * *", args: {below: {cpu: 0.3, memory: 0.3}}}
`

// TestStrategiesNodeConsolidation checks that a node with few requests is emptied as a whole. The
// lab's scheduler has the default scores, so it would send the replacements back without hints. The
// node stays empty, and a second pass moves nothing.
func TestStrategiesNodeConsolidation(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{
		{Name: "full", MilliCPU: 5000, MemoryMi: 5120, Nodes: []string{"n2", "n3"}, GraceSeconds: 1},
		{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n1", "n2"}, GraceSeconds: 1},
		{Name: "api", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n3"}, GraceSeconds: 1},
	})
	config := testbed.ConfigFile(t, consolidationConfig)
	defer runEvenkeel(t, "hints", "clear", "--config", config)
	for pass, evictions := range []int{3, 0} {
		r := onePass(t, config, ns)
		if len(r.Outcomes()) != evictions || len(r.Spec.Moves) != evictions {
			t.Errorf("pass %d plans %d moves and has the outcomes %q, want %d evictions", pass+1, len(r.Spec.Moves), r.OutcomeCodes(), evictions)
		}
		for _, app := range []string{"web", "api", "full"} {
			if nodes := nodesOf(t, ns, app); slices.Contains(nodes, "n1") || slices.Contains(nodes, "") {
				t.Errorf("after pass %d, the pods of %s are on %v, want none on n1 and all bound", pass+1, app, nodes)
			}
		}
		checkEvictions(t, ns, 3)
	}
	checkHints(t, "n1")
	// With the default scores, new pods would prefer the empty node. Its hint keeps them away.
	for range 3 {
		if pod := scaleUpByOne(t, ns, "web"); pod.Spec.NodeName == "n1" {
			t.Errorf("the new pod %s is on n1", pod.Name)
		}
	}
}

// TestStrategiesNodeConsolidationKeepsWholeNodes checks that no pod leaves a node if one of them may not leave.
func TestStrategiesNodeConsolidationKeepsWholeNodes(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{
		{Name: "full", MilliCPU: 5000, MemoryMi: 5120, Nodes: []string{"n2", "n3"}, GraceSeconds: 1},
		{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n1", "n2"}, GraceSeconds: 1},
		{Name: "alone", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1"}, GraceSeconds: 1}, // guards.minReplicas keeps it
	})
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, consolidationConfig), "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stdout, "NodeNotEmptied") {
		t.Errorf("exit %d:\n%s", r.code, r.stdout)
	}
	checkEvictions(t, ns, 0)
}
