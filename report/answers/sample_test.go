package answers_test

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

func workload(name string, category int, zones ...int) plan.WorkloadState {
	w := plan.WorkloadState{Namespace: "shop", Kind: "Deployment", Name: name, Zones: map[string]int{}, FailureCategory: category, CategoryCertain: category < 3}
	for i, n := range zones {
		w.Zones[fmt.Sprintf("zone-%d", i+1)] = n
	}
	return w
}

func utilization(max, deviation float64) map[string]plan.Distribution {
	return map[string]plan.Distribution{"cpu": {Max: max, StdDev: deviation}, "memory": {Max: max, StdDev: deviation}}
}

// threeZones is a plan that spreads the pods of a Deployment from 1/1/4 to 2/2/2.
func threeZones() view.View {
	move := func(step int, to string, confidence float64) plan.Move {
		return plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("d-6c8f-0%d", step+1)}, Owner: plan.ObjectRef{Kind: "Deployment", Name: "d"},
			Goals: []string{"g1"}, From: "n3", To: to, Confidence: confidence, Strategy: "zones", Step: step, Wave: step, GracePeriodSeconds: 30,
			Reason: plan.Reason{Code: plan.ZoneSkewed, Message: "d has 1/1/4 pods over 3 values of topology.kubernetes.io/zone; 2/2/2 would be even"}}
	}
	return view.View{
		Context: view.Context{Snapshot: true, PerMinute: 30, VerifyTimeout: 5 * time.Minute},
		Plan: plan.Plan{ID: "e2ec403302de7ae2", ConfigHash: "9f1c", TakenAt: taken, Expires: taken.Add(15 * time.Minute), Cluster: plan.ClusterInfo{Version: "1.37"},
			Moves: []plan.Move{move(1, "n1", .9962), move(2, "n2", 1)},
			Goals: []plan.Goal{{ID: "g1", Strategy: "zones", Kind: plan.SkewAtMost, TopologyKey: "topology.kubernetes.io/zone", Limit: 1, Excess: 2,
				Subject: plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: "d"}}},
			Strategies: []plan.StrategyState{{Name: "zones", Goals: 4, Unmet: 1, Due: true}, {Name: "nodes", Goals: 6, Due: true}},
			Rejections: plan.Rejections{Counts: map[plan.Code]int{}},
			Before: plan.State{Excess: map[string]float64{"g1": 2}, Utilization: utilization(.8, .141),
				Workloads: []plan.WorkloadState{workload("a", 3, 1, 1, 1), workload("d", 2, 1, 1, 4)}},
			After: plan.State{Excess: map[string]float64{}, Utilization: utilization(.9, .282),
				Workloads: []plan.WorkloadState{workload("a", 3, 1, 1, 1), workload("d", 3, 2, 2, 2)}}}}
}

func live() view.View { return with(threeZones(), func(v *view.View) { v.Snapshot = false }) }

// proposal is a plan whose moves need approval.
func proposal() view.View {
	return with(threeZones(), func(v *view.View) {
		sub := v.Plan
		v.Plan.Moves, v.Plan.Goals = nil, nil
		v.Plan.After = v.Plan.Before
		v.Plan.Strategies[0].Mode = plan.Approve
		sub.Strategies = v.Plan.Strategies[:1]
		v.Plan.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: sub}}
	})
}

func onlyShown() view.View {
	return with(proposal(), func(v *view.View) {
		v.Plan.Proposals[0].Mode, v.Plan.Strategies[0].Mode, v.Evicts, v.Snapshot = plan.ShowOnly, plan.ShowOnly, true, false
	})
}

// waiting is a stored plan that waits for approval.
func waiting() view.View {
	return with(live(), func(v *view.View) { v.Name, v.Mode = "20260102-000000-e2ec-approve", plan.Approve; storedMoves(v) })
}

// storedMoves removes what a stored plan does not keep of its moves.
func storedMoves(v *view.View) {
	for i := range v.Plan.Moves {
		v.Plan.Moves[i].GracePeriodSeconds = 0
	}
}

// stored is a stored plan of a dry run that leaves most out.
func stored() view.View {
	return with(manyGoals(), func(v *view.View) {
		v.Snapshot, v.Name = false, "20260102-000000-e2ec-dryrun"
		v.Omitted = view.Omitted{Moves: 660, Goals: 300, Nodes: 1423, Workloads: 5012}
		v.Plan.Strategies[0].Unmet, v.Plan.Strategies[0].Goals = 400, 3046
		storedMoves(v)
		v.Plan.OmittedGoals = []plan.OmittedGoals{{Strategy: "nodes", Unmet: 300, UnmetAfter: 90}}
	})
}

func run() view.View {
	return with(live(), func(v *view.View) {
		v.Run = &view.Run{ID: "r-1", Mode: plan.Live, Started: taken.Add(time.Minute), Finished: taken.Add(3 * time.Minute), Outcomes: []plan.Outcome{
			{Step: 1, Pod: v.Plan.Moves[0].Pod, Outcome: plan.Evicted, Landed: "n1", LandedAsPredicted: true, ReadyAfter: "4s"},
			{Step: 2, Pod: v.Plan.Moves[1].Pod, Outcome: plan.Evicted, Landed: "n3", ReadyAfter: "5s", Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "n2 was predicted"}}}}
	})
}

func asPredicted() view.View {
	return with(run(), func(v *view.View) {
		o := &v.Run.Outcomes[1]
		o.Landed, o.LandedAsPredicted, o.Reason = "n2", true, plan.Reason{}
		v.Run.ApprovedBy = "alice"
	})
}

func running() view.View {
	return with(asPredicted(), func(v *view.View) { v.Run.Outcomes, v.Run.Finished = v.Run.Outcomes[:1], time.Time{} })
}

// stopped is a run with an outcome of every kind, which a pause stopped.
func stopped() view.View {
	return with(run(), func(v *view.View) {
		for i := range 7 {
			m := v.Plan.Moves[1]
			m.Step = i + 3
			m.Pod.Name = fmt.Sprintf("d-6c8f-1%d", i)
			v.Plan.Moves = append(v.Plan.Moves, m)
		}
		add := func(step int, o plan.Outcome) {
			o.Step, o.Pod = step, v.Plan.Moves[step-1].Pod
			v.Run.Outcomes = append(v.Run.Outcomes, o)
		}
		add(3, plan.Outcome{Outcome: plan.Evicted, Landed: "n2", LandedAsPredicted: true, Reason: plan.Reason{Code: plan.ReplacementNotReady, Message: "the replacement is not Ready after 5m0s"}})
		add(4, plan.Outcome{Outcome: plan.Evicted, Reason: plan.Reason{Code: plan.ReplacementNotScheduled, Message: "no node takes the replacement"}})
		add(5, plan.Outcome{Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.OutcomeUnknown, Message: "the API server did not answer"}})
		add(6, plan.Outcome{Outcome: plan.InProgress})
		add(7, plan.Outcome{Outcome: plan.Blocked, Reason: plan.Reason{Code: plan.BlockedByPDB, Message: "pdb shop/d allows 0 more"}})
		v.Run.Stopped = &plan.Reason{Code: plan.Paused, Message: "evictions have been paused since 2026-01-02T00:02:00Z by bob"}
	})
}

func refused() view.View {
	stop := plan.Reason{Code: plan.ClusterViewStale, Message: "pods are known as of 2026-01-01T23:57:00Z only, longer ago than 2m0s"}
	return view.View{Plan: plan.Plan{TakenAt: taken, NothingJudged: []plan.Reason{stop}},
		Run: &view.Run{Mode: plan.Live, Started: taken, Finished: taken.Add(time.Second), Stopped: &stop}}
}

func untrusted() view.View {
	return with(live(), func(v *view.View) {
		v.Plan.Schedulers = []plan.SchedulerState{{Name: "default-scheduler", Planned: true, Reason: "predictions for Kubernetes 1.38 are untrusted: bindings seen 0"}}
	})
}

func paused() view.View {
	return with(live(), func(v *view.View) {
		v.Plan.Blocks = []plan.EvictionBlock{(&plan.Pause{Since: taken.Add(-72 * time.Hour), By: "alice", Reason: "release 42"}).Block()}
	})
}

func breakerOpen() view.View {
	return with(live(), func(v *view.View) {
		v.Plan.Blocks = []plan.EvictionBlock{{Reason: plan.Reason{Code: plan.BreakerOpen, Message: "the breaker has been open since 2026-01-01T23:55:00Z: 11 pods became unschedulable"}}}
	})
}

func nothingToDo() view.View {
	return with(live(), func(v *view.View) {
		p := &v.Plan
		p.Moves, p.Goals, p.Strategies[0].Unmet, p.After = nil, nil, 0, p.Before
	})
}

func noUsageData() view.View {
	return with(nothingToDo(), func(v *view.View) {
		v.Plan.Strategies = append(v.Plan.Strategies, plan.StrategyState{Name: "hot", NoData: "no usage data from metricsServer (last answer 6m ago, maxAge 3m)"})
	})
}

func nothingJudged() view.View {
	return with(nothingToDo(), func(v *view.View) {
		v.Plan.NothingJudged = []plan.Reason{{Code: plan.NoUsageData, Message: "strategy hot: no usage data: metricsServer gave no answer"}}
	})
}

func noViolation() view.View {
	return with(nothingToDo(), func(v *view.View) { v.Plan.Strategies = []plan.StrategyState{{Name: "old-pods", NoViolation: true}} })
}

func notDue() view.View {
	return with(nothingToDo(), func(v *view.View) { v.Plan.Strategies[0].Unmet, v.Plan.Strategies[0].Due = 2, false })
}

func noEvictionHelps() view.View {
	return with(live(), func(v *view.View) {
		p := &v.Plan
		p.Moves, p.After = nil, p.Before
		p.Bound.BlockedBy = []plan.Blocker{{Code: plan.BlockedByPDB, Detail: "pdb shop/d allows 0 more (g1)"}}
		p.Rejections = plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 6, plan.DaemonSetPod: 30, plan.NotNeeded: 90}, Samples: []plan.Rejection{
			{Pod: plan.PodRef{Namespace: "shop", Name: "d-6c8f-02"}, Reason: plan.Reason{Code: plan.BlockedByPDB, Message: "pdb shop/d allows 0 more"}}}}
	})
}

func nodesToEmpty() view.View {
	return with(nothingToDo(), func(v *view.View) {
		p := &v.Plan
		p.Strategies = []plan.StrategyState{{Name: "pack", Goals: 3, Unmet: 3, Due: true}}
		p.Before.Excess = map[string]float64{"g1": 2, "g2": 1, "g3": 4}
		p.After.Excess = map[string]float64{"g3": 4}
		for i := range 3 {
			p.Goals = append(p.Goals, plan.Goal{ID: fmt.Sprintf("g%d", i+1), Strategy: "pack", Kind: plan.NodeEmpty, Excess: 2, Subject: plan.ObjectRef{Kind: "Node", Name: fmt.Sprintf("n%d", i+1)}})
			p.Moves = append(p.Moves, plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("w-%d", i)}, From: "n1", To: "n9", Confidence: .98, Step: i + 1, Wave: 1,
				Reason: plan.Reason{Code: plan.NodeUnderUtilized}, Goals: []string{"g1"}})
		}
		p.Rejections.Counts[plan.TooFewReplicas] = 4
	})
}

// manyGoals is a plan for goals of several kinds, of which some stay unmet.
func manyGoals() view.View {
	return with(threeZones(), func(v *view.View) {
		p := &v.Plan
		v.Targets = []view.Target{{Resource: "cpu", Basis: plan.BasisRequests, Limit: .8}, {Resource: "memory", Basis: plan.BasisLoad, Limit: .85}}
		p.Moves, p.Goals, p.Before.Excess = nil, nil, map[string]float64{}
		p.Strategies = []plan.StrategyState{{Name: "nodes", Goals: 3046, Unmet: 100, Due: true}, {Name: "old", Goals: 40, Unmet: 40, Due: true},
			{Name: "apart", Goals: 9, Unmet: 3}}
		for i := range 100 {
			g := plan.Goal{ID: fmt.Sprintf("g%d", i+1), Strategy: "nodes", Kind: plan.NodeBelow, Resource: "cpu", Limit: .8, Excess: .1}
			if i%4 == 0 {
				g.Resource, g.Basis, g.Limit = "memory", plan.BasisLoad, .8+float64(i)/1000
			}
			p.Goals, p.After.Excess[g.ID] = append(p.Goals, g), float64(i%3)*.05
		}
		p.PodGoals = []plan.PodGoals{{Strategy: "old", Unmet: 40, UnmetAfter: 10}}
		for i := range 50 {
			m := plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("w-%d", i)}, From: "n1", To: "n2", Confidence: .91, Step: i + 1, Wave: i/8 + 1, GracePeriodSeconds: 600,
				Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: "pods on n1 request 91% of its cpu, above 80%"}}
			m.Reason.Code = []plan.Code{plan.NodeOverUtilized, plan.NodeOverUtilized, plan.PodExpired, plan.DisplacedForMove, "Unheard"}[i%5]
			p.Moves = append(p.Moves, m)
		}
		p.Rejections.Counts = map[plan.Code]int{plan.NoTargetFits: 1728, plan.DaemonSetPod: 9000}
		p.Bound.UnmetGoals = []plan.UnmetGoal{{Goal: "g2", Rejections: map[plan.Code]int{plan.NoTargetFits: 3}}}
	})
}

func getsWorse() view.View {
	return with(manyGoals(), func(v *view.View) {
		v.Plan.Before.Workloads = append(v.Plan.Before.Workloads, workload("c", 4, 2, 2, 1), workload("e", 2, 3, 1, 0))
		v.Plan.After.Workloads = append(v.Plan.After.Workloads, workload("c", 2, 4, 1, 0), workload("e", 1, 4, 0, 0))
	})
}

// ended removes pods that have ended.
func ended() view.View {
	return with(nothingToDo(), func(v *view.View) {
		p := &v.Plan
		p.Strategies = []plan.StrategyState{{Name: "failed", Goals: 1, Unmet: 1, Due: true}}
		p.Goals = []plan.Goal{{ID: "g1", Strategy: "failed", Kind: plan.PodAway, Excess: 1}}
		p.After.Excess = map[string]float64{}
		p.Moves = []plan.Move{{Pod: plan.PodRef{Namespace: "shop", Name: "job-1"}, From: "n1", Removal: plan.ByDeletion, Step: 1, Wave: 1,
			Reason: plan.Reason{Code: plan.PodFailed, Message: "the pod failed 3 days ago"}}}
	})
}

func withoutPlace() view.View {
	return with(threeZones(), func(v *view.View) {
		m := &v.Plan.Moves[1]
		m.To, m.Landing = "", plan.LandingNotRequired
	})
}

func hostile() view.View {
	return with(refusedByPDB("<script>alert(1)</script>\x1b[2J"), func(v *view.View) { v.Run.ApprovedBy = "![x](http://evil)\n# @all #1" })
}

func refusedByPDB(name string) view.View {
	return with(run(), func(v *view.View) {
		v.Plan.Moves[1].Pod.Name, v.Run.Outcomes[1].Pod.Name, v.Run.Outcomes[1].Landed = name, name, "n'3; rm -rf /"
		v.Plan.Goals[0].Subject.Name, v.Plan.Before.Workloads[1].Name = name, name
	})
}
