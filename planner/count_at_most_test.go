package planner_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// countAtMost returns a goal that at most limit pods of a Deployment run on each value of the topology key.
func countAtMost(s *cluster.Snapshot, name, key string, limit float64) plan.Goal {
	return plan.Goal{Strategy: "twins", Kind: plan.CountAtMost, Weight: 1, Limit: limit, TopologyKey: key, Pods: podsOf(s, name),
		Reason:  plan.Reason{Code: plan.ZoneSkewed, Message: "too many pods are in one place"},
		Subject: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: name}}
}

// podsOf returns the pods of a Deployment.
func podsOf(s *cluster.Snapshot, name string) (out []cluster.PodID) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Object.Labels["app"] == name {
			out = append(out, p.ID)
		}
	}
	return out
}

const hostname = "kubernetes.io/hostname"

// TestCountAtMost checks the fewest moves, the bound and the residual of groups with too many pods in a domain.
func TestCountAtMost(t *testing.T) {
	const cluster6 = `
base: three-nodes
objects:
- {kind: Node, metadata: {name: "n*", labels: {pool: all}}}
- {kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}}
- {kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}}
- {kind: Node, metadata: {name: n3, labels: {kubernetes.io/hostname: n3}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 100m, memory: 64Mi}, pods: [4 on n1, 1 on n2]}
- {kind: Deployment, metadata: {name: lone}, requests: {cpu: 100m, memory: 64Mi}, pods: [2 on n1], spec: {template: {spec: {nodeSelector: {kubernetes.io/hostname: n1}}}}}
`
	s := snapshotOf(t, cluster6)
	marked := make([]bool, len(s.Nodes))
	marked[s.NodeByName("n1").ID] = true
	cases := []struct {
		name          string
		goal          plan.Goal
		moves, bound  int
		excess, after float64
		residual      float64
	}{
		{"met", countAtMost(s, "web", hostname, 4), 0, 0, 0, 0, 0},
		{"one too many", countAtMost(s, "web", hostname, 3), 1, 1, 1, 0, 0},
		{"two too many", countAtMost(s, "web", hostname, 2), 2, 2, 2, 0, 0},
		{"no room for all", countAtMost(s, "web", hostname, 1), 1, 1, 3, 2, 0.6667},
		{"over zones", countAtMost(s, "web", "topology.kubernetes.io/zone", 2), 2, 2, 2, 0, 0},
		{"one domain for all nodes", countAtMost(s, "web", "pool", 2), 0, 0, 3, 3, 1},
		{"pods that cannot leave", countAtMost(s, "lone", hostname, 1), 0, 0, 1, 1, 1},
		{"nodes that do not count", func() plan.Goal { g := countAtMost(s, "web", hostname, 1); g.NotCounted = marked; return g }(), 0, 0, 0, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := planFor(t, s, unlimitedOptions(), c.goal)
			if len(p.Moves) != c.moves || p.Bound.MinEvictions != c.bound || p.Bound.MinForPlan != c.moves || p.Bound.Residual != c.residual ||
				p.Before.Excess["g1"] != c.excess || p.After.Excess["g1"] != c.after {
				t.Errorf("the plan is\n%s", formatPlan(p))
			}
		})
	}
}

// TestCountAtMostAndOthers checks that one eviction serves a node and a group, and that no move
// brings a domain above the limit.
func TestCountAtMostAndOthers(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode+`
- {kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}}
- {kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}}
- {kind: Node, metadata: {name: n3, labels: {kubernetes.io/hostname: n3}}}
`)
	goals := []plan.Goal{countAtMost(s, "web", hostname, 3), countAtMost(s, "api", hostname, 1)}
	goals[1].Constraint = true
	goals = append(goals, podAway(t, s, "shop/"+s.Pods[podsOf(s, "web")[2]].Object.Name))
	p := planFor(t, s, unlimitedOptions(), goals...)
	if len(p.Moves) != 1 || len(p.Moves[0].Goals) != 2 || p.Bound.MinEvictions != 1 || p.Bound.Residual != 0 {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
	api := podsOf(s, "api")[0]
	away := podAway(t, s, "shop/"+s.Pods[api].Object.Name)
	p = planFor(t, s, unlimitedOptions(), goals[1], away)
	if to := s.NodeByName("n1"); len(p.Moves) > 0 && p.Moves[0].To != to.Name || slices.ContainsFunc(p.Moves, func(m plan.Move) bool { return m.Acceptable.Nodes != 1 }) {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
}

// TestSkewNotCounted checks that pods on marked nodes do not count, and that a landing there does not help.
func TestSkewNotCounted(t *testing.T) {
	const skewedZones = `
base: three-nodes
objects:
- {kind: Node, metadata: {name: n4, labels: {topology.kubernetes.io/zone: zone-1}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 100m, memory: 64Mi}, pods: [3 on n1, 1 on n2, 1 on n3]}
`
	s := snapshotOf(t, skewedZones)
	g := countAtMost(s, "web", "topology.kubernetes.io/zone", 1)
	g.Kind, g.Domains = plan.SkewAtMost, []string{"zone-1", "zone-2", "zone-3"}
	g.NotCounted = make([]bool, len(s.Nodes))
	g.NotCounted[s.NodeByName("n4").ID] = true
	p := planFor(t, s, unlimitedOptions(), g)
	if len(p.Moves) != 0 || p.Rejections.Counts[plan.WouldReturn] != 3 || p.Before.Excess["g1"] != 1 {
		t.Errorf("a third of the replacements land on n4; the plan is\n%s", formatPlan(p))
	}
	cordoned := snapshotOf(t, skewedZones+"- {kind: Node, metadata: {name: n4}, spec: {unschedulable: true}}\n")
	p = planFor(t, cordoned, unlimitedOptions(), g)
	if len(p.Moves) != 1 || p.Moves[0].Acceptable.Nodes != 2 || p.Before.Excess["g1"] != 1 || p.After.Excess["g1"] != 0 {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
	g.NotCounted[s.NodeByName("n1").ID] = true
	g.Limit = 0
	p = planFor(t, s, unlimitedOptions(), g)
	if len(p.Goals) != 1 || p.Before.Excess["g1"] != 1 { // the domains have 0, 1 and 1 pods
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
}
