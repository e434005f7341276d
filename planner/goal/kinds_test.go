package goal

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestMeasuresAgreeWithMoves compares, for random goals of each kind and random moves, the excess
// that a measure predicts with the excess after the move, and the target check with both. Undoing a
// move restores every excess. TestEmptyTopologyValue checks that a label with an empty value is a
// domain, as for kube-scheduler.
func TestEmptyTopologyValue(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Object: &corev1.Node{}}, {Object: &corev1.Node{}}, {Object: &corev1.Node{}}}}
	s.Nodes[0].Object.Labels, s.Nodes[1].Object.Labels = map[string]string{"rack": ""}, map[string]string{"rack": "b"}
	if d := (domainCache{}).forKey(s, "rack"); d.Count() != 2 || d.ByNode[0] == NoDomain || d.ByNode[2] != NoDomain {
		t.Errorf("domains by node %v, want one for each of the first two nodes", d.ByNode)
	}
}

func TestMeasuresAgreeWithMoves(t *testing.T) {
	for seed := uint64(0); seed < 60; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		s := must.Get(cluster.New(simulation.Varied(r, 3+r.IntN(5), 30)))(t)
		kind := []plan.GoalKind{plan.PodAway, plan.CountAtMost, plan.SkewAtMost}[seed%3]
		goals := simulation.RandomGoals(r, s, kind)
		if r.IntN(2) == 0 {
			goals = append(goals, simulation.RandomGoals(r, s, plan.NoLowerRank)...)
		}
		track := NewTracker(s, goals)
		for range 40 {
			p := &s.Pods[r.IntN(len(s.Pods))]
			to := cluster.NodeID(r.IntN(len(s.Nodes)))
			before := excesses(track)
			predicted := make([]int64, len(before))
			worse, better := false, false
			for i, m := range track.Measures {
				predicted[i] = before[i]
				track.EachAffected(p.ID, p.Node, to, func(g int) bool {
					if g == i {
						predicted[i] = m.ExcessAfter(p.ID, p.Node, to)
					}
					return true
				})
				worse, better = worse || predicted[i] > before[i], better || predicted[i] < before[i] && m.CountsLanding(to)
			}
			check := track.CheckTargets(p.ID, p.Node)
			if got, want := check.Acceptable(to), better && !worse; got != want {
				t.Fatalf("seed %d: %s: Acceptable is %v, want %v", seed, kind, got, want)
			}
			track.Move(p.ID, p.Node, to)
			for i, after := range excesses(track) {
				if after != predicted[i] {
					t.Fatalf("seed %d: goal %d (%s): the excess is %d after the move, predicted %d", seed, i, kind, after, predicted[i])
				}
			}
			track.Move(p.ID, to, p.Node)
			for i, after := range excesses(track) {
				if after != before[i] {
					t.Fatalf("seed %d: goal %d (%s): the excess is %d after the undone move, %d before", seed, i, kind, after, before[i])
				}
			}
		}
	}
}

func excesses(t *Tracker) (out []int64) {
	for i := range t.Measures {
		out = append(out, t.Excess(i))
	}
	return out
}
