package examples

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// twoPools has a full node in each pool, and pods of bank on the full node of the pool steady.
const twoPools = `
objects:
- {kind: Node, metadata: {name: n1, labels: {pool: steady, topology.kubernetes.io/zone: zone-1}}}
- {kind: Node, metadata: {name: n2, labels: {pool: steady, topology.kubernetes.io/zone: zone-2}}}
- {kind: Node, metadata: {name: n3, labels: {pool: burst, topology.kubernetes.io/zone: zone-1}}}
- {kind: Node, metadata: {name: n4, labels: {pool: burst, topology.kubernetes.io/zone: zone-2}}}
- {kind: Namespace, metadata: {name: shop}}
- {kind: Namespace, metadata: {name: bank}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 250m, memory: 100Mi}, pods: [16 on n1, 8 on n2], spec: {template: {spec: {nodeSelector: {pool: steady}}}}}
- {kind: Deployment, metadata: {name: render}, requests: {cpu: 500m, memory: 100Mi}, pods: [13 on n3, 5 on n4], spec: {template: {spec: {nodeSelector: {pool: burst}}}}}
- {kind: Deployment, metadata: {name: api, namespace: bank}, requests: {cpu: 250m, memory: 100Mi}, pods: [8 on n1], spec: {template: {spec: {nodeSelector: {pool: steady}}}}}
- {kind: Deployment, metadata: {name: pay, namespace: bank}, requests: {cpu: 500m, memory: 100Mi}, pods: [8 on n1], spec: {template: {metadata: {labels: {tier: billing}}, spec: {nodeSelector: {pool: steady}}}}}
- {kind: Deployment, metadata: {name: few, namespace: bank}, requests: {cpu: 500m, memory: 100Mi}, pods: [2 on n2], spec: {template: {spec: {nodeSelector: {pool: steady}}}}}
`

// TestTwoPoolsExample plans with examples/two-pools.yaml on a small cluster with two pools.
func TestTwoPoolsExample(t *testing.T) {
	c := load(t, "examples/two-pools.yaml")
	sc := &scenario.Scenario{Cluster: []byte(twoPools)}
	p := planOf(t, sc.Objects(t), c)
	moves := map[string]int{} // by mode, strategy, namespace and node
	for _, of := range append([]plan.Proposal{{Mode: plan.Automatic, Plan: p}}, p.Proposals...) {
		for _, m := range of.Plan.Moves {
			moves[string(of.Mode)+" "+m.Strategy+" "+m.Pod.Namespace+" "+m.From]++
			if m.Pod.Namespace == "bank" && !strings.HasPrefix(m.Pod.Name, "api-") {
				t.Errorf("%s is moved, against the rules of the team", m.Pod)
			}
		}
	}
	// Of the five pods that may leave n1 in a pass (limits.perNode), the automatic strategies leave one to bank.
	if !c.DryRun || moves["automatic burst shop n3"] != 3 || moves["approve bank bank n1"] != 1 || moves["automatic steady shop n1"] == 0 ||
		moves["dryRun zones shop n1"]+moves["dryRun zones shop n3"] == 0 {
		t.Errorf("dryRun %t, moves by mode, strategy, namespace and node: %v", c.DryRun, moves)
	}
	if i := slices.IndexFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Name == "bank" }); p.Strategies[i].Settings == nil ||
		p.Strategies[i].Settings.Guards.MinPodAge != "1h" {
		t.Errorf("the plan shows the strategy as %+v; want its guards", p.Strategies[i])
	}
}
