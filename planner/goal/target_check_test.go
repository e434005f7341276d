package goal

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestCountIsThatOfServe compares Count and AcceptsAll with the nodes for which Acceptable is true.
// TestCountIsThatOfServe uses node goals, group goals or both, some of them constraints.
func TestCountIsThatOfServe(t *testing.T) {
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(3, 1)), 60, 900)))(t)
	some, none := 0, 0
	for kinds := range 8 {
		var goals []plan.Goal
		for i := range s.Nodes {
			for _, r := range []string{"cpu", "memory"}[:min(kinds, 2)] {
				goals = append(goals, plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Node: cluster.NodeID(i), Resource: r,
					Limit: 0.5, Weight: 1, Constraint: kinds > 5})
			}
		}
		for i := range s.Workloads {
			if w := &s.Workloads[i]; kinds != 1 {
				goals = append(goals, plan.Goal{Strategy: "zones", Kind: plan.SkewAtMost, TopologyKey: limits.ZoneKey,
					Domains: domainsOf(s), Limit: 1, Weight: 1,
					Pods: w.Pods, Subject: plan.ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}, Constraint: kinds == 4})
			}
		}
		tr := NewTracker(s, goals)
		ready, all := make([]bool, len(s.Nodes)), make([]cluster.NodeID, len(s.Nodes))
		set := prediction.NodeSet{Bits: make([]uint64, 1)}
		for i := range all {
			ready[i], all[i] = i%7 > 0, cluster.NodeID(i)
			set.Position, set.Order = append(set.Position, int32(i+7)%60), append(set.Order, cluster.NodeID(i+53)%60)
			if i%5 > 0 {
				set.Bits[0] |= 1 << set.Position[i]
				set.Count++
			}
		}
		for i := range s.Pods {
			p := &s.Pods[i]
			a, want := tr.CheckTargets(p.ID, p.Node), 0
			var good, bad []cluster.NodeID
			for _, n := range all {
				switch {
				case !ready[n] || !a.Acceptable(n):
					bad = append(bad, n)
				case set.Has(n):
					good, want = append(good, n), want+1
				default:
					good = append(good, n)
				}
			}
			if got := a.Count(&set, ready); got != want {
				t.Fatalf("kinds %d, pod %d: %d places, want %d", kinds, i, got, want)
			}
			if !a.AcceptsAll(good, ready) {
				t.Fatalf("kinds %d, pod %d: does not accept all of %v", kinds, i, good)
			}
			for _, n := range bad {
				if a.AcceptsAll(append(good, n), ready) {
					t.Fatalf("kinds %d, pod %d: accepts node %d", kinds, i, n)
				}
			}
			if want > 0 {
				some++
			} else {
				none++
			}
			if p.Node != cluster.NoNode {
				tr.Move(p.ID, p.Node, cluster.NodeID(i%len(s.Nodes)))
			}
		}
	}
	if some < 500 || none < 500 {
		t.Errorf("only %d pods have an acceptable node and %d have none", some, none)
	}
}

func domainsOf(s *cluster.Snapshot) (out []string) {
	seen := map[string]bool{}
	for _, z := range limits.ZonesOf(s) {
		if !seen[z] {
			seen[z] = true
			out = append(out, z)
		}
	}
	return out
}
