package html_test

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/view"
)

var taken = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

func sentence(parts ...string) (out answers.Text) {
	for i, p := range parts {
		out = append(out, answers.Part{Kind: answers.Kind(i % 2), Text: p}) // every second part is a name
	}
	return out
}

// first is a first screen with everything that one can have.
func first() answers.First {
	return answers.First{Mark: "▲", State: "Not all goals are met", Forbids: []string{"Paused"},
		Headline: sentence("Deployment ", "shop/d", " would lose 4 of its 6 pods if ", "zone-3", " failed. 2 evictions would spread them evenly."),
		Answers: []answers.Answer{
			{Question: "Is it good now?", Statement: sentence("Mostly."), Detail: sentence("1 of 10 goals is not met: 1 workload spread unevenly.")},
			{Question: "What would happen?", Statement: sentence("2 pods would be evicted, in 2 waves."), Detail: sentence("Then 10 of 10 goals are met."),
				Section: "moves", Link: "See the moves"},
		},
		Next: answers.Next{Words: sentence("If you agree, execute exactly this plan before 2026-01-02 00:15 UTC:"), Commands: []string{"evenkeel apply plan.json"},
			Note: answers.Text{{Kind: answers.Code, Text: "apply"}, {Text: " evicts pods even if the configuration says "}, {Kind: answers.Code, Text: "dryRun: true"}, {Text: "."}}}}
}

func nodeState(name, zone string, cpu, memory float64) plan.NodeState {
	return plan.NodeState{Name: name, Zone: zone, Requested: map[string]float64{"cpu": cpu, "memory": memory}}
}

func workload(name string, category int, certain bool, zones map[string]int) plan.WorkloadState {
	return plan.WorkloadState{Namespace: "shop", Kind: "Deployment", Name: name, Zones: zones, FailureCategory: category, CategoryCertain: certain}
}

// threeZones is a plan that spreads the pods of a Deployment from 1/1/4 to 2/2/2.
func threeZones() view.View {
	zones := func(a, b, c int) map[string]int { return map[string]int{"zone-1": a, "zone-2": b, "zone-3": c} }
	reason := plan.Reason{Code: plan.ZoneSkewed, Message: "d has 1/1/4 pods over 3 values of topology.kubernetes.io/zone; 2/2/2 would be even"}
	move := func(step int, to string, nodes int, confidence float64) plan.Move {
		return plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("d-6c8f-0%d", step+1)}, Owner: plan.ObjectRef{Kind: "Deployment", Name: "d"},
			Goals: []string{"g1"}, From: "n3", To: to, Acceptable: plan.Acceptable{Nodes: nodes}, Confidence: confidence, Strategy: "zones", Step: step, Wave: step,
			Reason: reason, Benefit: 0.5}
	}
	balance := func(goals, zones, nodes float64) *plan.Balance {
		return &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals, Uneven: goals}, {Name: plan.BalanceZones, Uneven: zones},
			{Name: plan.BalanceUtilization, Uneven: nodes}}}
	}
	p := plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ID: "e2ec403302de7ae2", TakenAt: taken, Expires: taken.Add(15 * time.Minute),
		Cluster: plan.ClusterInfo{Version: "1.37"}, ConfigHash: "9f1c2d",
		Moves: []plan.Move{move(1, "n1", 2, 0.9962), move(2, "n2", 1, 0.95)},
		Goals: []plan.Goal{{ID: "g1", Strategy: "zones", Kind: plan.SkewAtMost, TopologyKey: "topology.kubernetes.io/zone", Limit: 1, Weight: 1, Excess: 2,
			Subject: plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: "d"}}},
		Strategies: []plan.StrategyState{{Name: "zones", Goals: 4, Unmet: 1, Due: true}, {Name: "nodes", Goals: 6, Due: true}},
		Rejections: plan.Rejections{Counts: map[plan.Code]int{}},
		Before: plan.State{Nodes: []plan.NodeState{nodeState("n1", "zone-1", .8, .797), nodeState("n2", "zone-2", .8, .797), nodeState("n3", "zone-3", .5, .498)},
			Workloads: []plan.WorkloadState{workload("d", 2, true, zones(1, 1, 4)), workload("a", 3, false, zones(1, 1, 1)), workload("b", 3, false, zones(1, 1, 0)),
				workload("c", 3, false, zones(1, 1, 0))}, Excess: map[string]float64{"g1": 2}, Balance: balance(.088, .124, .284)},
		After: plan.State{Nodes: []plan.NodeState{nodeState("n1", "zone-1", .9, .897), nodeState("n2", "zone-2", .9, .897), nodeState("n3", "zone-3", .3, .299)},
			Workloads: []plan.WorkloadState{workload("d", 3, false, zones(2, 2, 2)), workload("a", 3, false, zones(1, 1, 1)), workload("b", 3, false, zones(1, 1, 0)),
				workload("c", 3, false, zones(1, 1, 0))}, Excess: map[string]float64{"g1": 0}, Balance: balance(0, 0, .564)},
		Bound:  plan.Bound{MinEvictions: 2, MinForPlan: 2},
		Inputs: []plan.Input{{Source: "requests", Age: "0s", Coverage: 1}}}
	return view.View{Plan: p, Context: view.Context{Snapshot: true, Pods: 13, Targets: []view.Target{{Resource: "cpu", Basis: plan.BasisRequests, Limit: .9},
		{Resource: "memory", Basis: plan.BasisRequests, Limit: .9}}, PerMinute: 30, VerifyTimeout: 5 * time.Minute, Config: "strategies:\n- name: zones\n  type: ZoneSpread\n"}}
}

// executed is a run of threeZones in which one replacement landed elsewhere.
func executed() view.View {
	v := threeZones()
	at := taken.Add(time.Minute)
	v.Run = &view.Run{ID: "r-1", Started: at, Finished: at.Add(90 * time.Second), Mode: plan.Live, Outcomes: []plan.Outcome{
		{Step: 1, Pod: v.Plan.Moves[0].Pod, Outcome: plan.Evicted, Landed: "n1", LandedAsPredicted: true, ReadyAfter: "4s"},
		{Step: 2, Pod: v.Plan.Moves[1].Pod, Outcome: plan.Evicted, Landed: "n3", ReadyAfter: "5s", Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "n2 was predicted"}}}}
	return v
}

// large is a plan for many nodes, with moves in every wave, causes of pods that stay, and usage data.
func large(nodes, moves, workloads int) view.View {
	v := threeZones()
	p := &v.Plan
	v.PoolLabel, v.Pools, v.Pods = "node.example/pool", map[string]string{}, 20*nodes
	v.Targets = []view.Target{{Resource: "cpu", Basis: plan.BasisRequests, Limit: .8}, {Resource: "memory", Basis: plan.BasisRequests, Limit: .85}}
	node := func(i int) string { return fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", i/250, i%250) }
	p.Before.Nodes, p.After.Nodes, p.Before.Workloads, p.After.Workloads, p.Moves, p.Goals = nil, nil, nil, nil, nil, nil
	for i := range nodes {
		cpu, memory := float64(i*7919%1000)/1000, float64(i*104729%1000)/1000
		zone := fmt.Sprintf("eu-central-1%c", 'a'+i%3)
		p.Before.Nodes = append(p.Before.Nodes, nodeState(node(i), zone, cpu, memory))
		p.After.Nodes = append(p.After.Nodes, nodeState(node(i), zone, min(cpu, .8), min(memory, .9)))
		v.Pools[node(i)] = fmt.Sprintf("pool-%d", i%7)
	}
	for i := range workloads {
		w := workload(fmt.Sprintf("w%d", i), 1+i%3, i%3 < 2, map[string]int{"eu-central-1a": i % 5, "eu-central-1b": i % 3, "eu-central-1c": 1})
		p.Before.Workloads = append(p.Before.Workloads, w)
		if w.FailureCategory == 2 && i%4 == 0 {
			w.FailureCategory, w.Zones = 3, map[string]int{"eu-central-1a": 2, "eu-central-1b": 2, "eu-central-1c": 1}
		}
		if i%301 == 0 {
			w.FailureCategory = 1
		}
		p.After.Workloads = append(p.After.Workloads, w)
	}
	for i := range moves {
		p.Moves = append(p.Moves, plan.Move{Pod: plan.PodRef{Namespace: fmt.Sprintf("team-%d", i%40), Name: fmt.Sprintf("payments-worker-6c8f7d9b5-%05d", i)},
			Owner: plan.ObjectRef{Kind: "Deployment", Name: "payments-worker"}, From: node(i % nodes), To: node(i * 31 % nodes), Acceptable: plan.Acceptable{Nodes: i%900 + 1},
			Confidence: 1 - float64(i%97)/700, Strategy: []string{"nodes", "zones"}[i%2], Step: i + 1, Wave: i/8 + 1, Benefit: float64(i%13) / 10,
			Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: fmt.Sprintf("pods on %s request %d.4%% of its cpu, above 80%%", node(i%nodes), 80+i%20)}})
	}
	for i := range 400 {
		id := fmt.Sprintf("g%d", i)
		p.Goals = append(p.Goals, plan.Goal{ID: id, Strategy: "nodes", Kind: plan.NodeBelow, Resource: "cpu", Limit: .8, Excess: .15,
			Subject: plan.ObjectRef{Kind: "Node", Name: node(i % nodes)}})
		p.After.Excess[id] = float64(i%16) / 100
	}
	p.Hints = []plan.WaveHints{{Wave: 3, Kind: "taint", Nodes: []string{node(1)}}}
	p.Bound = plan.Bound{MinForPlan: moves * 9 / 10, MinEvictions: moves * 11 / 10, ResidualByGoal: map[string]float64{"g3": .01},
		BlockedBy: []plan.Blocker{{Code: plan.NoTargetFits, Detail: "node a stays above 80% (g7)"}}}
	p.Rejections = plan.Rejections{Counts: map[plan.Code]int{plan.NoTargetFits: 1728, plan.TooFewReplicas: 28, plan.BenefitTooSmall: 310},
		Samples: []plan.Rejection{{Pod: plan.PodRef{Namespace: "shop", Name: "w-1"}, Reason: plan.Reason{Code: plan.NoTargetFits, Message: "no other node has room"}}}}
	return v
}
