package planner_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestExplanationsAgreeWithPlans: the explanation of each pod agrees with the plan. If only one reason keeps a pod on
// its node, one of its checks has the code of that reason.
func TestExplanationsAgreeWithPlans(t *testing.T) {
	for seed := range uint64(10) {
		o := simulation.Crowded(rand.New(rand.NewPCG(seed, 7)), 12, 12, 8)
		conf := configWithTwoStrategies(t)
		s, p := planRandomCluster(t, o, conf)
		moved, refused := map[string]plan.Move{}, map[string]plan.Code{}
		for _, m := range p.Moves {
			moved[m.Pod.UID] = m
		}
		for _, r := range p.Rejections.Samples {
			refused[r.Pod.UID] = r.Reason.Code
		}
		e := planner.New(conf.PlannerOptions()).Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
		for id := range s.Pods {
			x := e.Pod(cluster.PodID(id)).Pods[0]
			m, inPlan := moved[x.Pod.UID]
			switch {
			case inPlan != (x.Move != nil):
				t.Fatalf("seed %d: %s: moved %v, explained as %+v", seed, x.Pod, inPlan, x.Verdict)
			case inPlan && (x.Move.To != m.To || x.Move.Wave != m.Wave || x.Verdict != m.Reason):
				t.Fatalf("seed %d: %s: the plan has %+v, explained is %+v", seed, x.Pod, m, *x.Move)
			case refused[x.Pod.UID] != "" && refused[x.Pod.UID] != x.Verdict.Code:
				t.Fatalf("seed %d: %s: refused as %s, explained as %s", seed, x.Pod, refused[x.Pod.UID], x.Verdict.Code)
			case x.OnlyObstacle && !isRejectedWith(x, x.Verdict.Code):
				t.Fatalf("seed %d: %s: %s alone keeps it, but no check says so", seed, x.Pod, x.Verdict.Code)
			}
		}
	}
}

func isRejectedWith(x plan.PodExplanation, code plan.Code) bool {
	for _, list := range [][]plan.RuleResult{x.Guards, x.Budgets, x.Limits} {
		for _, c := range list {
			if c.Code == code && !c.Allows {
				return true
			}
		}
	}
	return x.Landing.Verdict.Code == code
}
