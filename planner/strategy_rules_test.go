package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// strategyCluster has ten pods of one CPU on n1, and one of each kind that a guard of a strategy may keep.
const strategyCluster = `
base: three-nodes
objects:
- {kind: Namespace, metadata: {name: bank, labels: {team: red}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 500m, memory: 256Mi}, pods: [4 on n1]}
- {kind: Deployment, metadata: {name: api, namespace: bank}, requests: {cpu: 500m, memory: 256Mi}, pods: [4 on n1]}
- {kind: Deployment, metadata: {name: few}, requests: {cpu: 500m, memory: 256Mi}, pods: [2 on n1]}
- kind: Deployment
  metadata: {name: vip}
  requests: {cpu: 500m, memory: 256Mi}
  pods: [4 on n1]
  spec: {template: {spec: {priority: 1000}}}
- kind: Deployment
  metadata: {name: data}
  requests: {cpu: 500m, memory: 256Mi}
  pods: [2 on n1]
  spec: {template: {spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}}
- {kind: PersistentVolumeClaim, metadata: {name: c}, spec: {storageClassName: fast}}
`

const hotStrategy = `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
evictor: {inFlight: {perNode: 16, perOwner: 4}}
strategies:
  hot: {type: NodeLoad, schedule: "* * * * *", args: {target: {cpu: 0.5}}OWN}
  other: {type: NodeLoad, schedule: "* * * * *", args: {target: {memory: 0.1}}}
`

// openStrategies opens strategyCluster with these keys of the strategy hot, such as "soft: true".
func openStrategies(t *testing.T, own string) (*cluster.Snapshot, *config.Config) {
	t.Helper()
	if own != "" {
		own = ", " + own
	}
	s, _, conf := openScenario(t, &scenario.Scenario{Config: []byte(strings.Replace(hotStrategy, "OWN", own, 1)), Cluster: []byte(strategyCluster)})
	return s, conf
}

// TestRulesOfAStrategyBarPods: each key of a strategy bars a pod from moves for it, with a message
// that names the strategy, and from nothing else.
func TestRulesOfAStrategyBarPods(t *testing.T) {
	for _, c := range []struct {
		own, pod string
		code     plan.Code
		says     string
	}{
		{"nodeSelector: pool=b", "shop/web-6c8f-00", plan.NodeOutOfScope, `strategy hot: nodeSelector "pool=b" does not select node n1`},
		{"podSelector: app!=web", "shop/web-6c8f-00", plan.PodNotSelected, `strategy hot: podSelector "app!=web" does not select the pod`},
		{"podSelector: app!=web", "shop/vip-6c8f-00", "", ""},
		{"namespaces: {exclude: [bank]}", "bank/api-6c8f-00", plan.NamespaceExcluded, "strategy hot: namespace bank is out of its scope (namespaces)"},
		{"namespaces: {include: [bank]}", "shop/web-6c8f-00", plan.NamespaceExcluded, "strategy hot: namespace shop is out of its scope (namespaces)"},
		{"namespaces: {include: [bank]}", "bank/api-6c8f-00", "", ""},
		{"namespaces: {selector: team=red}", "shop/web-6c8f-00", plan.NamespaceExcluded, "strategy hot: namespace shop is out"},
		{"guards: {minReplicas: 3}", "shop/few-6c8f-00", plan.TooFewReplicas, "strategy hot: Deployment few wants 2 replicas"},
		{"guards: {minReplicas: 3}", "shop/web-6c8f-00", "", ""},
		{"guards: {minPodAge: 48h}", "shop/web-6c8f-00", plan.PodTooYoung, "strategy hot: the pod started 24h0m0s ago"},
		{"guards: {priorityBelow: 1000}", "shop/vip-6c8f-00", plan.PriorityTooHigh, "strategy hot: "},
		{"guards: {priorityBelow: 1001}", "shop/vip-6c8f-00", "", ""},
		{"guards: {priorityBelow: nobody}", "shop/web-6c8f-00", plan.PriorityTooHigh, "strategy hot: "},
		{"guards: {protect: [PodsWithPVC]}", "shop/data-6c8f-00", plan.PersistentVolume, "strategy hot: volume v"},
		{"guards: {protect: [PodsWithoutPDB]}", "shop/web-6c8f-00", plan.NoPodDisruptionBudget, "strategy hot: "},
		{"guards: {protectedStorageClasses: [fast]}", "shop/data-6c8f-00", plan.ProtectedStorageClass, "strategy hot: claim c has storage class fast"},
		{"guards: {protectedStorageClasses: [slow]}", "shop/data-6c8f-00", "", ""},
	} {
		t.Run(c.own+" "+c.pod, func(t *testing.T) {
			s, conf := openStrategies(t, c.own)
			x := planner.New(conf.PlannerOptions()).Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt).
				Pod(s.PodByKey(c.pod).ID).Pods[0]
			if len(x.Strategies) != 1 || x.Strategies[0].Strategy != "hot" {
				t.Fatalf("the strategies with rules are %+v; want hot", x.Strategies)
			}
			if r := x.Strategies[0]; r.Allows != (c.code == "") || r.Reason.Code != c.code || !strings.Contains(r.Reason.Message, c.says) {
				t.Errorf("%+v, want %s %q", r, c.code, c.says)
			}
			if i := slices.IndexFunc(x.Guards, func(g plan.RuleResult) bool { return !g.Allows }); i >= 0 {
				t.Errorf("a guard of all strategies keeps the pod: %+v", x.Guards[i])
			}
		})
	}
}

// TestRecheckAppliesRulesOfTheStrategy makes a plan without rules, and checks it again with rules
// of the moves' strategy.
func TestRecheckAppliesRulesOfTheStrategy(t *testing.T) {
	s, conf := openStrategies(t, "")
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	first := slices.IndexFunc(made.Moves, func(m plan.Move) bool { return m.Wave > 1 })
	hot := slices.DeleteFunc(slices.Clone(made.Moves[:first]), func(m plan.Move) bool { return m.Strategy != "hot" })
	if len(hot) == 0 {
		t.Fatal("the first wave has no move for hot")
	}
	for _, c := range []struct {
		own     string
		past    int // evictions for hot in the last hour
		edit    func(*plan.Move)
		dropped plan.Code
		says    string
	}{
		{own: "soft: false"},
		{own: "guards: {minPodAge: 2h}"},
		{own: "guards: {minPodAge: 48h}", dropped: plan.PodTooYoung, says: "strategy hot: "},
		{own: "podSelector: app=none", dropped: plan.PodNotSelected, says: "strategy hot: "},
		{own: "limits: {perHour: {cluster: 3}}", past: 3, dropped: plan.LimitPerHour, says: "strategy hot: limits.perHour.cluster allows 3 evictions; 3 within"},
		{own: "limits: {perHour: {cluster: 300}}", past: 3},
		{own: "limits: {perPass: 9}", edit: func(m *plan.Move) { m.Strategy = "nobody" }, dropped: plan.PremiseChanged,
			says: `the configuration has no strategy "nobody"`},
	} {
		t.Run(c.own, func(t *testing.T) {
			s, conf := openStrategies(t, c.own)
			st := plan.PlannerState{}
			if c.past > 0 {
				st.Evictions = []plan.EvictionCount{{Workload: plan.ObjectRef{Kind: "Thing", Namespace: "far", Name: "x"},
					Minute: s.TakenAt, Count: c.past, Strategy: "hot"}}
			}
			p := made
			p.Moves = slices.Clone(made.Moves)
			for i := range p.Moves {
				if c.edit != nil && p.Moves[i].Strategy == "hot" {
					c.edit(&p.Moves[i])
				}
			}
			ok, dropped := planner.New(conf.PlannerOptions()).Recheck(s, st, controller.Goals(s, conf.BuildStrategies(), nil), p, 1, s.TakenAt)
			if want := len(hot); c.dropped == "" && len(dropped) > 0 || c.dropped != "" && (len(dropped) != want || len(ok) != first-want) {
				t.Errorf("%d moves hold, dropped %+v", len(ok), dropped)
			}
			for _, o := range dropped {
				if o.Reason.Code != c.dropped || !strings.Contains(o.Reason.Message, c.says) {
					t.Errorf("%+v, want %s %q", o.Reason, c.dropped, c.says)
				}
			}
		})
	}
}

// TestMoveForAnotherStrategyIsDropped: a person who names another strategy in a saved plan does not
// escape the rules of the move's own. The strategy far has no goal that the moves improve.
func TestMoveForAnotherStrategyIsDropped(t *testing.T) {
	text := strings.Replace(hotStrategy, "OWN", ", limits: {perPass: 2}", 1) +
		"  far: {type: NodeLoad, schedule: \"* * * * *\", limits: {perPass: 9}, args: {target: {cpu: 1}}}\n"
	s, _, conf := openScenario(t, &scenario.Scenario{Config: []byte(text), Cluster: []byte(strategyCluster)})
	p, goals := planner.New(conf.PlannerOptions()), controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	made.Moves = slices.Clone(made.Moves)
	if ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt); len(dropped) > 0 || len(ok) == 0 {
		t.Fatalf("%d moves hold, dropped %+v", len(ok), dropped)
	}
	for i := range made.Moves {
		made.Moves[i].Strategy = "far"
	}
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) > 0 || len(dropped) == 0 {
		t.Errorf("%d moves hold, dropped %+v; want none", len(ok), dropped)
	}
	for _, o := range dropped {
		if o.Reason.Code != plan.PremiseChanged || !strings.Contains(o.Reason.Message, "no goal of strategy far") {
			t.Errorf("%+v, want that the move improves no goal of strategy far", o.Reason)
		}
	}
}

// TestLimitsOfAStrategyCountItsMoves: a saved plan, and a second plan in the same pass, use up the
// limits of a strategy, and only with moves for this strategy.
func TestLimitsOfAStrategyCountItsMoves(t *testing.T) {
	s, conf := openStrategies(t, "limits: {perPass: 3}")
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	count := func(moves []plan.Move, strategy string) (n int) {
		for _, m := range moves {
			if m.Strategy == strategy {
				n++
			}
		}
		return n
	}
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if count(made.Moves, "hot") != 3 || count(made.Moves, "other") == 0 {
		t.Fatalf("%d moves for hot, %d for other; want 3 and some", count(made.Moves, "hot"), count(made.Moves, "other"))
	}
	if dropped := p.CheckLimits(s, plan.PlannerState{}, made, s.TakenAt); len(dropped) != 0 {
		t.Errorf("the plan is within the limit: %+v", dropped)
	}
	more := made
	more.Moves = slices.Clone(made.Moves)
	for i := range more.Moves {
		more.Moves[i].Strategy = "hot"
	}
	dropped := p.CheckLimits(s, plan.PlannerState{}, more, s.TakenAt)
	if len(dropped) != len(made.Moves)-3 || dropped[0].Reason.Code != plan.LimitPerPass || !strings.HasPrefix(dropped[0].Reason.Message, "strategy hot: ") {
		t.Errorf("of %d moves for hot, these are dropped: %+v", len(made.Moves), dropped)
	}
	done := slices.DeleteFunc(slices.Clone(made.Moves), func(m plan.Move) bool { return m.Strategy != "hot" })
	again := p.Replan(s, plan.PlannerState{}, goals, done[:2], s.TakenAt, s.TakenAt)
	if n := count(again.Moves, "hot"); n != 1 {
		t.Errorf("after two moves for hot, the second plan has %d; want 1", n)
	}
	h := history.CountLastHourFor(history.Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, made.Moves, s.TakenAt), "hot", s.TakenAt)
	if h.Cluster != 3 {
		t.Errorf("the history counts %d evictions for hot, want 3", h.Cluster)
	}
}

// TestRulesOfADryRunStrategyDropNoMove: rules of a strategy for which no moves are made change
// nothing for other moves, even if a move improves only a goal of another strategy than it names.
func TestRulesOfADryRunStrategyDropNoMove(t *testing.T) {
	const far = "  far: {type: NodeLoad, schedule: \"* * * * *\", args: {target: {cpu: 1}}}\n" +
		"  calm: {type: NodeLoad, mode: MODE, schedule: \"* * * * *\", limits: {perPass: 9}, args: {target: {cpu: 1}}}\n"
	for mode, drops := range map[string]bool{"dryRun": false, "automatic": true} {
		text := strings.Replace(hotStrategy, "OWN", "", 1) + strings.Replace(far, "MODE", mode, 1)
		s, _, conf := openScenario(t, &scenario.Scenario{Config: []byte(text), Cluster: []byte(strategyCluster)})
		p, goals := planner.New(conf.PlannerOptions()), planner.GoalsFor(plan.Automatic, controller.Goals(s, conf.BuildStrategies(), nil))
		made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		for i := range made.Moves {
			made.Moves[i].Strategy = "far"
		}
		ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
		if drops != (len(dropped) > 0) || len(ok)+len(dropped) == 0 {
			t.Errorf("calm is %s: %d moves hold, dropped %+v", mode, len(ok), dropped)
		}
	}
}
