package planner_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
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

// TestExplainNamesMarks checks that the explanations of a node and of a pod name the node condition that keeps pods
// from moving to the node.
func TestExplainNamesMarks(t *testing.T) {
	s, st, conf := openScenario(t, scenario.Read(t, "target-marked-bad"))
	e := planner.New(conf.PlannerOptions()).Explain(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	const want = "marked bad: condition NetworkingReady is False of the EKS node monitoring agent"
	if got := e.Node(s.NodeByName("n2").ID).Node.State; !slices.Equal(got, []string{want}) {
		t.Errorf("the state of n2 is %q", got)
	}
	for _, n := range e.Pod(s.PodByKey("shop/web-6c8f-00").ID).Pods[0].Landing.Nodes {
		if named := strings.HasSuffix(n.Detail, "; not sent there: it is "+want); named != (n.Name == "n2") || n.Acceptable {
			t.Errorf("%s: acceptable %v, %q", n.Name, n.Acceptable, n.Detail)
		}
	}
}

// TestExplainNamesUsedUpLimits: a limit that allows an eviction before the pass, and that the plan uses up, is not
// explained as one that simply allows the eviction. For a pod that the plan moves, the limit allows it.
func TestExplainNamesUsedUpLimits(t *testing.T) {
	snapshot, st, conf := openScenario(t, scenario.Read(t, "zone-limit"))
	e := planner.New(conf.PlannerOptions()).Explain(snapshot, st, controller.Goals(snapshot, conf.BuildStrategies(), nil), snapshot.TakenAt)
	for name, want := range map[string]bool{"d-6c8f-02": false, "d-6c8f-03": true} {
		x := e.Pod(snapshot.PodByKey("shop/" + name).ID).Pods[0]
		for _, l := range x.Limits {
			usedUp := want && l.Code == plan.LimitPerZone
			if !l.Allows || l.UsedUp != usedUp {
				t.Errorf("%s: %s allows %v, used up %v, want true, %v: %s", name, l.Code, l.Allows, l.UsedUp, usedUp, l.Message)
			}
		}
	}
}

// TestExplainUnlimited checks how the limits say that they are unlimited.
func TestExplainUnlimited(t *testing.T) {
	s := scenario.Read(t, "zone-limit")
	snapshot, st, conf := openScenario(t, s)
	o := conf.PlannerOptions()
	o.Limits.PerNamespace, o.Limits.PerHour.Namespace = plan.Unlimited(), plan.Unlimited()
	e := planner.New(o).Explain(snapshot, st, controller.Goals(snapshot, conf.BuildStrategies(), nil), snapshot.TakenAt)
	var got []string
	for _, l := range e.Pod(snapshot.PodByKey("shop/d-6c8f-02").ID).Pods[0].Limits {
		got = append(got, l.Message)
	}
	for _, want := range []string{"limits.perNamespace in shop is unlimited; the plan uses 1",
		"limits.perHour.namespace in shop is unlimited; 0 within the last hour; the plan uses 1"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestOnlyObstacleIsTrue: whether an annotation is on the Deployment or on one pod, the plan without the annotation
// moves the explained pod, or other pods of the same workload.
func TestOnlyObstacleIsTrue(t *testing.T) {
	s := scenario.Read(t, "zone-limit")
	never := map[string]string{"evenkeel.io/evict": "never"}
	for name, annotate := range map[string]func(o *cluster.Objects){
		"Deployment": func(o *cluster.Objects) {
			for _, d := range o.Deployments {
				if d.Name == "d" {
					d.Annotations = never
				}
			}
		},
		"pod": func(o *cluster.Objects) {
			for _, p := range o.Pods {
				if p.Name == "d-6c8f-02" {
					p.Annotations = never
				}
			}
		},
	} {
		o := s.Objects(t)
		annotate(o)
		snapshot, st, conf := openScenarioWith(t, s, o)
		e := planner.New(conf.PlannerOptions()).Explain(snapshot, st, controller.Goals(snapshot, conf.BuildStrategies(), nil), snapshot.TakenAt)
		without := map[string]bool{}
		for _, m := range planScenario(t, s).Moves {
			without[m.Pod.Name] = true
		}
		only := 0
		for i := range snapshot.Pods {
			x := e.Pod(cluster.PodID(i)).Pods[0]
			if !x.OnlyObstacle || x.Verdict.Code != plan.EvictNever {
				continue
			}
			only++
			if x.Node != "n3" || len(without) == 0 {
				t.Errorf("%s: %s on %s is said to be kept by the annotation only; without it, the plan moves %v", name, x.Pod, x.Node, without)
			}
		}
		if want := map[string]int{"Deployment": 4, "pod": 1}[name]; only != want {
			t.Errorf("%s: %d pods are kept by the annotation only, want %d", name, only, want)
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
