package planner_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestExplanationsInMidWave: in the middle of wave 1, its other replacements are placed and its evicted pods still
// terminate. The explanation says that a node where the pod would land without them is no target then. The plan does
// not move the pod to that node in wave 1.
func TestExplanationsInMidWave(t *testing.T) {
	for _, c := range []struct {
		scenario, pod string
		planned       string // node on which it would land in wave 1 if the other pods were gone
		node          string
		pending       float64
		detail        string // what the explanation says about the node, which is not acceptable
	}{
		{"wave-waits-for-room", "w3-6c8f-01", "z0-n1", "z0-n1", 0.9, "z0-n1 has not enough free cpu"},
		{"wave-waits-for-the-crowded-node", "w7-6c8f-01", "z0-n1", "z1-n1", 0, "the best"},
		{"wave-waits-for-anti-affinity", "w3-6c8f-00", "z0-n0", "z0-n0", 0, "z0-n0 violates required pod affinity or anti-affinity"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			s, st, conf := openScenario(t, scenario.Read(t, c.scenario))
			p := planner.New(conf.PlannerOptions())
			made := p.Plan(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
			var mates []plan.Move
			for _, m := range made.Moves {
				switch {
				case m.Pod.Name != c.pod && m.Wave == 1:
					mates = append(mates, m)
				case m.Pod.Name == c.pod && m.Wave == 1 && m.To == c.planned:
					t.Errorf("the plan moves %s to %s in wave 1", c.pod, c.planned)
				}
			}
			half := must.Get(cluster.New(midWave(s.Objects, mates)))(t)
			x := p.Explain(half, st, controller.Goals(half, conf.BuildStrategies(), nil), half.TakenAt).Pod(half.PodByKey("shop/" + c.pod).ID).Pods[0]
			if x.Landing.PendingProbability != c.pending {
				t.Errorf("pending with %v, want %v", x.Landing.PendingProbability, c.pending)
			}
			i := slices.IndexFunc(x.Landing.Nodes, func(n plan.TargetNode) bool { return n.Name == c.node })
			if i < 0 || x.Landing.Nodes[i].Acceptable || !strings.Contains(x.Landing.Nodes[i].Detail, c.detail) {
				t.Errorf("want %s with %q: %+v", c.node, c.detail, x.Landing.Nodes)
			}
		})
	}
}

// midWave returns the cluster in which the moved pods still terminate and their replacements are placed.
func midWave(o *cluster.Objects, moves []plan.Move) *cluster.Objects {
	out := simulation.WithReplacements(o, moves)
	for i, p := range out.Pods {
		old := o.Pods[i]
		if p == old {
			continue
		}
		p.Name, p.UID = p.Name+"-new", types.UID(p.UID+"-new")
		old = old.DeepCopy()
		old.DeletionTimestamp = &metav1.Time{Time: o.TakenAt}
		out.Pods = append(out.Pods, old)
	}
	return out
}
