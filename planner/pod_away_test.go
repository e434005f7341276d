package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// unlimitedOptions are the default options without limits.
func unlimitedOptions() search.Options {
	o, no := search.DefaultOptions(), plan.Unlimited()
	o.SamplesPerCode, o.MaxUnavailableWithoutPDB = -1, 100
	o.Limits = limits.Options{PerPass: no, PerNode: no, PerNamespace: no, PerOwner: no, PerZone: no,
		PerHour: limits.PerHour{Owner: no, Namespace: no, Cluster: no}}
	o.InFlight = eligibility.InFlight{Total: 100, PerNode: 100, PerOwner: 100}
	return o
}

// snapshotOf returns the snapshot of a cluster in the format of scenarios.
func snapshotOf(t testing.TB, text string) *cluster.Snapshot {
	t.Helper()
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(text)}).Objects(t)))(t)
	return s
}

// podAway returns a goal that the pod leaves its node.
func podAway(t testing.TB, s *cluster.Snapshot, name string) plan.Goal {
	t.Helper()
	p := s.PodByKey(name)
	if p == nil {
		t.Fatalf("there is no pod %s", name)
	}
	return plan.Goal{Strategy: "old", Kind: plan.PodAway, Weight: 1, Pods: []cluster.PodID{p.ID}, Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: "it is old"},
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)}}
}

// planFor plans for stated goals, and checks that the plan is a valid object and that a second plan has no move.
func planFor(t *testing.T, s *cluster.Snapshot, opts search.Options, goals ...plan.Goal) plan.Plan {
	t.Helper()
	p := planner.New(opts).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	checkObjects(t, p)
	return p
}

// podMoves formats the moves of a plan.
func podMoves(p plan.Plan) string {
	var out []string
	for _, m := range p.Moves {
		out = append(out, fmt.Sprintf("%s %s->%s", m.Pod.Name, m.From, m.To))
	}
	return strings.Join(out, ", ")
}

const podsOnOneNode = `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 500m, memory: 256Mi}, pods: [4 on n1]}
- {kind: Deployment, metadata: {name: api}, requests: {cpu: 500m, memory: 256Mi}, pods: [1 on n2, 1 on n3]}
`

// TestPodAway checks where pods land that must leave their node, the bound and the residual.
func TestPodAway(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode)
	n1, n2, n3 := s.NodeByName("n1"), s.NodeByName("n2"), s.NodeByName("n3")
	web := podAway(t, s, "shop/"+s.Pods[n1.Pods[0]].Object.Name)
	on := func(nodes ...*cluster.Node) []bool {
		out := make([]bool, len(s.Nodes))
		for _, n := range nodes {
			out[n.ID] = true
		}
		return out
	}
	full := plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Resource: "cpu", Weight: 1, Limit: 0.01, Constraint: true}
	below := func(n *cluster.Node) plan.Goal {
		g := full
		g.Node, g.Subject = n.ID, plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name}
		return g
	}
	with := func(g plan.Goal, change func(*plan.Goal)) plan.Goal {
		change(&g)
		return g
	}
	cases := []struct {
		name         string
		goals        []plan.Goal
		to           []string // possible targets
		nodes, bound int
		residual     float64
		code         plan.Code
	}{
		{"to any other node", []plan.Goal{web}, []string{"n2", "n3"}, 2, 1, 0, ""},
		{"not where others become worse", []plan.Goal{with(web, func(g *plan.Goal) { g.MayReturn = true }), below(n2), below(n3)}, nil, 0, 1, 0,
			plan.UncertainLanding},
		{"to any node, its own included", []plan.Goal{with(web, func(g *plan.Goal) { g.MayReturn = true })}, []string{"n2", "n3"}, 3, 1, 0, ""},
		{"not back to its node", []plan.Goal{web, below(n2), below(n3)}, nil, 0, 1, 0, plan.NoTargetFits},
		{"only to a node that does not meet the goal", []plan.Goal{with(web, func(g *plan.Goal) { g.Targets = on(n1) })}, nil, 0, 0, 1,
			plan.NoTargetFits},
		{"to marked nodes, less likely than others", []plan.Goal{with(web, func(g *plan.Goal) { g.Targets = on(n2) })}, nil, 0, 1, 0,
			plan.WouldReturn},
		{"to all marked nodes", []plan.Goal{with(web, func(g *plan.Goal) { g.Targets = on(n2, n3) })}, []string{"n2", "n3"}, 2, 1, 0, ""},
		{"not for a constraint", []plan.Goal{with(web, func(g *plan.Goal) { g.Constraint = true })}, nil, 0, 0, 0, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := planFor(t, s, unlimitedOptions(), c.goals...)
			if len(c.to) == 0 != (len(p.Moves) == 0) || p.Bound.MinEvictions != c.bound || p.Bound.Residual != c.residual {
				t.Fatalf("the plan is\n%s", formatPlan(p))
			}
			if c.code != "" && p.Rejections.Counts[c.code] != 1 {
				t.Errorf("rejections %v, want %s", p.Rejections.Counts, c.code)
			}
			if len(c.to) > 0 {
				m := p.Moves[0]
				if len(p.Moves) != 1 || !slices.Contains(c.to, m.To) || m.Acceptable.Nodes != c.nodes || m.Confidence != 1 ||
					p.After.Excess["g1"] != 0 || p.Bound.MinForPlan != 1 {
					t.Errorf("the plan is\n%s", formatPlan(p))
				}
				if ok, dropped := planner.New(unlimitedOptions()).Recheck(s, plan.PlannerState{}, c.goals, p, 1, s.TakenAt); len(ok) != 1 ||
					len(ok[0].AcceptableNodes) != c.nodes {
					t.Errorf("the wave is not executed: moves %v, dropped %v", ok, dropped)
				}
			}
		})
	}
}

// TestPodAwayReturns checks moves whose replacements can only return to their node.
func TestPodAwayReturns(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode+`
- {kind: Node, metadata: {name: n2}, spec: {unschedulable: true}}
- {kind: Node, metadata: {name: n3}, spec: {unschedulable: true}}
`)
	var back, away []plan.Goal
	for _, id := range s.NodeByName("n1").Pods[:3] {
		g := podAway(t, s, "shop/"+s.Pods[id].Object.Name)
		away = append(away, g)
		g.MayReturn = true
		back = append(back, g)
	}
	p := planFor(t, s, unlimitedOptions(), back...)
	if len(p.Moves) != 3 || p.After.Excess["g3"] != 0 || p.Bound.MinEvictions != 3 || p.Bound.MinForPlan != 3 {
		t.Fatalf("the plan is\n%s", formatPlan(p))
	}
	for _, m := range p.Moves {
		if m.From != "n1" || m.To != "n1" || m.Wave != 1 || m.Confidence != 1 || m.Acceptable.Nodes != 1 {
			t.Errorf("move %+v", m)
		}
	}
	ok, dropped := planner.New(unlimitedOptions()).Recheck(s, plan.PlannerState{}, back, p, 1, s.TakenAt)
	if len(ok) != 3 || !slices.Equal(ok[0].AcceptableNodes, []string{"n1"}) {
		t.Errorf("the wave is not executed: moves %v, dropped %v", ok, dropped)
	}
	if p := planFor(t, s, unlimitedOptions(), away...); len(p.Moves) != 0 || p.Rejections.Counts[plan.NoTargetFits] != 3 || p.Bound.Residual != 3 {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
}

// TestPodAwayOrder checks that limits keep the pods that a strategy states first.
func TestPodAwayOrder(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode)
	var goals []plan.Goal
	var want []string
	for _, i := range []int{2, 0, 3, 1} {
		name := s.Pods[s.NodeByName("n1").Pods[i]].Object.Name
		goals, want = append(goals, podAway(t, s, "shop/"+name)), append(want, name)
	}
	opts := unlimitedOptions()
	opts.Limits.PerPass = plan.Absolute(2)
	p := planFor(t, s, opts, goals...)
	if len(p.Moves) != 2 || p.Moves[0].Pod.Name != want[0] || p.Moves[1].Pod.Name != want[1] {
		t.Errorf("moves %s, want %v first", podMoves(p), want)
	}
	if n := p.PodGoals; len(n) != 1 || n[0] != (plan.PodGoals{Strategy: "old", Unmet: 4, UnmetAfter: 2, Listed: 4}) {
		t.Errorf("counts %v", n)
	}
}

// TestPodAwayServesNode checks that the eviction of a pod that must leave also serves its node, and that the bound
// knows it.
func TestPodAwayServesNode(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode)
	n1 := s.NodeByName("n1")
	last := s.Pods[n1.Pods[3]].Object.Name
	used := float64(n1.Requested.MilliCPU) / float64(n1.Allocatable.MilliCPU)
	hot := plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Resource: "cpu", Weight: 1, Limit: used * 0.75, Node: n1.ID,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "n1"}, Reason: plan.Reason{Code: plan.NodeOverUtilized}}
	p := planFor(t, s, unlimitedOptions(), hot, podAway(t, s, "shop/"+last))
	if len(p.Moves) != 1 || p.Moves[0].Pod.Name != last || len(p.Moves[0].Goals) != 2 || p.Bound.MinEvictions != 1 || p.Bound.MinForPlan != 1 {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
	two := planFor(t, s, unlimitedOptions(), hot, podAway(t, s, "shop/"+last), podAway(t, s, "shop/"+s.Pods[n1.Pods[0]].Object.Name))
	if len(two.Moves) != 2 || two.Bound.MinEvictions != 2 {
		t.Errorf("the plan is\n%s", formatPlan(two))
	}
}

// TestManyPodAway checks that a plan lists only some of many goals about single pods, and counts all.
func TestManyPodAway(t *testing.T) {
	s := snapshotOf(t, `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 10m, memory: 1Mi}, pods: [60 on n1]}
`)
	var goals []plan.Goal
	for _, id := range s.NodeByName("n1").Pods {
		goals = append(goals, podAway(t, s, "shop/"+s.Pods[id].Object.Name))
	}
	opts := unlimitedOptions()
	opts.SamplesPerCode, opts.Limits.PerPass = 5, plan.Absolute(10)
	p := planFor(t, s, opts, goals...)
	if want := (plan.PodGoals{Strategy: "old", Unmet: 60, UnmetAfter: 50, Listed: 15}); len(p.PodGoals) != 1 || p.PodGoals[0] != want {
		t.Errorf("counts %v, want %v", p.PodGoals, want)
	}
	if len(p.Moves) != 10 || len(p.Goals) != 15 || len(p.Before.Excess) != 15 || len(p.After.Excess) != 15 || len(p.Bound.BlockedBy) != 1 {
		t.Errorf("%d moves, %d goals, blockers %v", len(p.Moves), len(p.Goals), p.Bound.BlockedBy)
	}
	if want := "strategy old: 50 of the 50 pods that should leave are beyond limits.perPass"; p.Bound.BlockedBy[0].Detail != want {
		t.Errorf("blocker %q, want %q", p.Bound.BlockedBy[0].Detail, want)
	}
}
