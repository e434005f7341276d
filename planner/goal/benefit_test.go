package goal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestCouldImproveFindsANode checks CouldImprove for group goals. The result must be true exactly if a move to some
// node lowers the excess, also for pods outside the counted domains.
func TestCouldImproveFindsANode(t *testing.T) {
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(3, 1)), 60, 900)))(t)
	all := domainsOf(s)
	outside, could := 0, 0
	for out := range len(all) + 1 { // index of the domain that the goal does not count; the last index means none
		counted := slices.Delete(slices.Clone(all), out, min(out+1, len(all)))
		for i := range s.Workloads {
			tr := NewTracker(s, []plan.Goal{{Kind: plan.SkewAtMost, TopologyKey: limits.ZoneKey, Domains: counted, Limit: 1,
				Weight: 1, Pods: s.Workloads[i].Pods}})
			for _, id := range s.Workloads[i].Pods {
				from := s.Pods[id].Node
				want := slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return excessChange(tr, 0, id, from, n.ID) < 0 })
				if got := tr.CouldImprove(0, id, from); got != want {
					t.Fatalf("of %v, pod %s of %s: could serve is %v, want %v", counted, s.Pods[id].Object.Name, s.Nodes[from].Name, got, want)
				}
				if _, in := tr.Measures[0].(*SkewMeasure).DomainIndex(from); want && !in {
					outside++
				} else if want {
					could++
				}
			}
		}
	}
	if outside < 50 || could < 50 {
		t.Errorf("only %d pods outside the counted domains and %d other pods could improve a goal", outside, could)
	}
}

// TestBenefitFollowsEmptying: the goal of a node counts for the benefit of its pods from Start to Stop, whoever has
// asked for the benefit before.
func TestBenefitFollowsEmptying(t *testing.T) {
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(3, 1)), 6, 60)))(t)
	n := s.Pods[0].Node
	tr := NewTracker(s, []plan.Goal{{Kind: plan.NodeEmpty, Node: n, Weight: 1, Pods: s.Nodes[n].Pods}})
	e, pod := Emptying{Tracker: tr}, s.Nodes[n].Pods[0]
	before, _ := tr.WorthOfLeaving(pod, n)
	e.Start([]int{0}, nil)
	during, _ := tr.WorthOfLeaving(pod, n)
	e.Stop()
	if after, _ := tr.WorthOfLeaving(pod, n); before != 0 || during <= 0 || after != 0 {
		t.Errorf("benefit %v before, %v during and %v after the emptying of the node, want 0, more than 0, and 0", before, during, after)
	}
}

// TestBenefitFollowsMoves compares what leaving is worth after each of many moves with a Tracker that has no cache.
func TestBenefitFollowsMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	s := must.Get(cluster.New(simulation.Uneven(r, 12, 240)))(t)
	var goals []plan.Goal
	for i := range s.Workloads[:len(s.Workloads)/2] {
		goals = append(goals, plan.Goal{Kind: plan.SkewAtMost, TopologyKey: limits.ZoneKey, Domains: domainsOf(s), Limit: 1, Weight: 1,
			Pods: s.Workloads[i].Pods})
	}
	for i := range s.Nodes[:len(s.Nodes)/2] {
		goals = append(goals, plan.Goal{Kind: plan.NodeBelow, Node: cluster.NodeID(i), Resource: "cpu", Limit: 0.5, Weight: 1})
	}
	tr, on, changed := NewTracker(s, goals), make([]cluster.NodeID, len(s.Pods)), 0
	for i := range s.Pods {
		on[i] = s.Pods[i].Node
	}
	for range 200 {
		pod, to := cluster.PodID(r.IntN(len(s.Pods))), cluster.NodeID(r.IntN(len(s.Nodes)))
		tr.Move(pod, on[pod], to)
		on[pod] = to
		fresh := tr.Clone()
		for p, n := range on {
			p := cluster.PodID(p)
			before := leaving{}
			if tr.leaving != nil {
				before = tr.leaving[p]
			}
			got, gotBoth := tr.WorthOfLeaving(p, n)
			if want, wantBoth := fresh.WorthOfLeaving(p, n); got != want || gotBoth != wantBoth {
				t.Fatalf("pod %d on node %d: %v and %t, want %v and %t", p, n, got, gotBoth, want, wantBoth)
			}
			if got != before.benefit {
				changed++
			}
		}
	}
	if changed < 300 {
		t.Errorf("only %d values changed", changed)
	}
}
