package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestMoveForAStrategyOfAnotherModeIsDropped: a person who names a strategy of another mode in a
// saved plan does not escape the rules of the move's own strategy, even if no strategy of that mode
// has rules.
func TestMoveForAStrategyOfAnotherModeIsDropped(t *testing.T) {
	text := strings.Replace(hotStrategy, "OWN", ", limits: {perPass: 2}", 1) +
		"  free: {type: NodeLoad, schedule: \"* * * * *\", mode: approve, args: {target: {cpu: 0.4}}}\n"
	s, _, conf := openScenario(t, &scenario.Scenario{Config: []byte(text), Cluster: []byte(strategyCluster)})
	p, all := planner.New(conf.PlannerOptions()), controller.Goals(s, conf.BuildStrategies(), nil)
	goals := planner.GoalsFor(plan.Automatic, all)
	made := p.Plan(s, plan.PlannerState{}, all, s.TakenAt)
	if ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt); len(dropped) > 0 || len(ok) == 0 {
		t.Fatalf("%d moves hold, dropped %+v", len(ok), dropped)
	}
	made.Moves = slices.Clone(made.Moves)
	for i := range made.Moves {
		made.Moves[i].Strategy = "free"
	}
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) > 0 || len(dropped) == 0 || !strings.Contains(dropped[0].Reason.Message, "no goal of strategy free") {
		t.Errorf("%d moves hold, dropped %+v; want none", len(ok), dropped)
	}
}

// TestProtectionOfAStrategyHoldsWithinItsMode: two Ready pods of a Service leave in one wave,
// although a strategy of another mode protects the last Ready pods. The approved wave holds when it
// is checked again.
func TestProtectionOfAStrategyHoldsWithinItsMode(t *testing.T) {
	const objects = `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 256Mi}, pods: [4 on n1]}
- {kind: Service, metadata: {name: pair}, spec: {selector: {pair: "yes"}}}
- {kind: Deployment, metadata: {name: left}, requests: {cpu: "3", memory: 256Mi}, pods: [1 on n1], spec: {template: {metadata: {labels: {pair: "yes"}}}}}
- {kind: Deployment, metadata: {name: right}, requests: {cpu: "3", memory: 256Mi}, pods: [1 on n1], spec: {template: {metadata: {labels: {pair: "yes"}}}}}
`
	for _, c := range []struct {
		mover, other plan.StrategyMode
		together     bool
	}{
		{plan.Approve, plan.ShowOnly, true}, {plan.Approve, plan.Automatic, true}, {plan.Approve, plan.Approve, false},
		{plan.Automatic, plan.Approve, true}, {plan.Automatic, plan.Automatic, false},
	} {
		t.Run(string(c.mover)+" "+string(c.other), func(t *testing.T) {
			text := `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {protect: [], minReplicas: 1}
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
evictor: {inFlight: {perNode: 16, perOwner: 4}}
strategies:
  pairs: {type: NodeLoad, schedule: "* * * * *", mode: MOVER, podSelector: "app in (left, right)", args: {target: {cpu: 0.5}}}
  careful: {type: NodeLoad, schedule: "* * * * *", mode: OTHER, guards: {protect: [LastReadyPods]}, args: {target: {memory: 0.9}}}
`
			text = strings.NewReplacer("MOVER", string(c.mover), "OTHER", string(c.other)).Replace(text)
			s, _, conf := openScenario(t, &scenario.Scenario{Config: []byte(text), Cluster: []byte(objects)})
			p, goals := planner.New(conf.PlannerOptions()), controller.Goals(s, conf.BuildStrategies(), nil)
			made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
			if c.mover == plan.Approve {
				made = *made.ForApproval()
			}
			waves := []int{}
			for _, m := range made.Moves {
				waves = append(waves, m.Wave)
			}
			if len(waves) != 2 || (waves[0] == waves[1]) != c.together {
				t.Fatalf("the two pods leave in the waves %v; want one wave: %t", waves, c.together)
			}
			ok, dropped := p.Recheck(s, plan.PlannerState{}, planner.GoalsFor(c.mover, goals), made, 1, s.TakenAt)
			if len(dropped) > 0 || c.together && len(ok) != 2 {
				t.Errorf("%d moves hold, dropped %+v", len(ok), dropped)
			}
		})
	}
}
