package report_test

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

var taken = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newPlan returns a plan with the fields that every plan has.
func newPlan() plan.Plan {
	return plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan", ID: "3f9c2a7be01d44c09a", TakenAt: taken, Expires: taken.Add(15 * time.Minute),
		Cluster: plan.ClusterInfo{UID: "c-1", Version: "1.37"}, ConfigHash: "9b1e",
		Inputs: []plan.Input{{Source: "requests", Age: "0s", Coverage: 1}},
	}
}

func nodeState(name, zone string, cpu, memory float64) plan.NodeState {
	return plan.NodeState{Name: name, Zone: zone, Requested: map[string]float64{"cpu": cpu, "memory": memory}}
}

func workloadState(kind, name string, category int, z1, z2, z3 int) plan.WorkloadState {
	return plan.WorkloadState{Namespace: "shop", Kind: kind, Name: name, Zones: map[string]int{"z1": z1, "z2": z2, "z3": z3},
		Skew: max(z1, z2, z3) - min(z1, z2, z3), FailureCategory: category, CategoryCertain: category < 3}
}

func newMove(step int, name, from, to string) plan.Move {
	return plan.Move{
		Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "u-" + name}, Owner: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment",
			Name: "d", UID: "u-d"},
		Goals: []string{"g1"}, From: from, To: to, Acceptable: plan.Acceptable{Nodes: 2}, Confidence: 0.97, ReturnProbability: 0.03,
		Strategy: "zones", Step: step, Wave: step, Steer: "none",
		Reason:  plan.Reason{Code: plan.ZoneSkewed, Message: "d has 1/1/4 pods over 3 zones; 2/2/2 is possible"},
		Benefit: 0.5,
	}
}

// threeZonesPlan returns the plan of the basic scenario: Deployment d with 1/1/4 pods gets 2/2/2.
func threeZonesPlan() plan.Plan {
	p := newPlan()
	single := workloadState("StatefulSet", "single", 1, 0, 1, 0)
	p.Goals = []plan.Goal{{ID: "g1", Strategy: "zones", Kind: plan.SkewAtMost, TopologyKey: "topology.kubernetes.io/zone", Limit: 1,
		Weight: 1, Excess: 2,
		Subject: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}}}
	p.Moves = []plan.Move{newMove(1, "d-6f9c-x1", "n3", "n1"), newMove(2, "d-6f9c-x2", "n3", "n2")}
	p.Rejections = plan.Rejections{Counts: map[plan.Code]int{plan.DaemonSetPod: 3, plan.WouldReturn: 2}, Samples: []plan.Rejection{
		{Pod: plan.PodRef{Namespace: "kube-system", Name: "proxy-1"}, Node: "n1", Strategy: "zones",
			Reason: plan.Reason{Code: plan.DaemonSetPod, Message: "a DaemonSet pod comes back to the same node"}},
		{Pod: plan.PodRef{Namespace: "shop", Name: "d-6f9c-x3"}, Node: "n3", Strategy: "zones", Reason: plan.Reason{Code: plan.WouldReturn,
			Message: "the scheduler would put it back on n3"}},
		{Pod: plan.PodRef{Namespace: "shop", Name: "d-6f9c-x4"}, Node: "n3", Strategy: "zones", Reason: plan.Reason{Code: plan.WouldReturn,
			Message: "the scheduler would put it back on n3"}},
	}}
	p.Bound = plan.Bound{MinEvictions: 2, MinForPlan: 2}
	p.Strategies = []plan.StrategyState{{Name: "zones", Goals: 3, Unmet: 1, Due: true}}
	p.Before = plan.State{Nodes: []plan.NodeState{nodeState("n1", "z1", .8, .8), nodeState("n2", "z2", .8, .8), nodeState("n3", "z3", .5, .505)},
		Excess: map[string]float64{"g1": 2},
		Workloads: []plan.WorkloadState{workloadState("Deployment", "a", 3, 1, 1, 1), workloadState("Deployment", "b", 2, 1, 1, 0),
			workloadState("Deployment", "d", 2, 1, 1, 4), single}}
	p.Before.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals, Uneven: 0.25}, {Name: plan.BalanceZones, Uneven: 0.4}}}
	p.After = plan.State{Nodes: []plan.NodeState{nodeState("n1", "z1", .9, .9), nodeState("n2", "z2", .9, .9), nodeState("n3", "z3", .3, .305)},
		Balance: &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals}, {Name: plan.BalanceZones, Uneven: 0.1}}},
		Excess:  map[string]float64{"g1": 0},
		Workloads: []plan.WorkloadState{workloadState("Deployment", "a", 3, 1, 1, 1), workloadState("Deployment", "b", 2, 1, 1, 0),
			workloadState("Deployment", "d", 3, 2, 2, 2), single}}
	return p
}

// steeringHintsPlan returns a plan with hints in both waves. The second wave has more nodes than a line shows.
func steeringHintsPlan() plan.Plan {
	p := threeZonesPlan()
	many := []string{}
	for i := range 23 {
		many = append(many, fmt.Sprintf("node-%02d", i))
	}
	p.Hints = []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n3"}}, {Wave: 2, Kind: "taint", Nodes: many}}
	p.Moves[0].Steer, p.Moves[1].Steer = "taint", "taint"
	return p
}

// untrustedSchedulersPlan returns a plan with schedulers without a profile: one is trusted,
// one has a low hit rate, one has no data.
func untrustedSchedulersPlan() plan.Plan {
	p := nothingToDoPlan()
	all, some := 0.9833, 0.5
	p.Schedulers = []plan.SchedulerState{
		{Name: "binpack", Pods: 12, Seen: 80, Predicted: 60, Hits: 30, HitRate: &some},
		{Name: "fancy", Pods: 9, Seen: 80, Predicted: 60, Hits: 59, HitRate: &all, Trusted: true},
		{Name: "new", Pods: 1},
	}
	return p
}

// evictionsBlockedPlan returns a plan that a pause, the breaker and a suspended strategy block.
func evictionsBlockedPlan() plan.Plan {
	p := threeZonesPlan()
	p.Blocks = []plan.EvictionBlock{
		(&plan.Pause{Since: taken.Add(-time.Hour), Until: taken.Add(time.Hour), By: "alice\x1b[2J", Reason: "release 42"}).Block(),
		{Reason: plan.Reason{Code: plan.BreakerOpen, Message: "the breaker has been open since 2025-12-31T23:55:00Z: 11 pods became unschedulable"},
			Since: taken.Add(-5 * time.Minute), Until: taken.Add(5 * time.Minute)},
	}
	return p
}

// otherDeschedulersPlan returns a plan for a cluster in which more deschedulers run than the table names.
func otherDeschedulersPlan() plan.Plan {
	p := nothingToDoPlan()
	p.OtherDeschedulers = []plan.OtherDescheduler{
		{Program: "descheduler", Kind: "Deployment", Namespace: "kube-system", Name: "descheduler"},
		{Program: "koord-descheduler", Kind: "Deployment", Namespace: "koordinator-system", Name: "koord-descheduler"},
		{Program: "descheduler", Kind: "CronJob", Namespace: "ops", Name: "night\x1b[2J"},
		{Program: "descheduler", Kind: "Pod", Namespace: "ops", Name: "by-hand"},
	}
	return p
}

// nothingToDoPlan returns a plan without unmet goals.
func nothingToDoPlan() plan.Plan {
	p := newPlan()
	p.Before = plan.State{Nodes: []plan.NodeState{nodeState("n1", "", .5, .5)}}
	p.After = p.Before
	p.Strategies = []plan.StrategyState{{Name: "zones", Goals: 14, Due: true}}
	return p
}

// blockedByBudgetPlan returns a plan with an unmet goal and no moves, because of a budget. The plan
// also has a stale source of data.
func blockedByBudgetPlan() plan.Plan {
	p := threeZonesPlan()
	p.Moves = nil
	p.After = p.Before
	p.Bound = plan.Bound{MinEvictions: 0, Residual: 1, ResidualByGoal: map[string]float64{"g1": 2},
		BlockedBy: []plan.Blocker{{Code: plan.BlockedByPDB, Detail: "pdb shop/d allows 0 more"},
			{Code: plan.TooFewReplicas, Detail: "shop/e has 1 replica"}}}
	p.Rejections = plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 12}, Samples: []plan.Rejection{
		{Pod: plan.PodRef{Namespace: "shop", Name: "d-6f9c-x1"}, Node: "n3", Strategy: "zones", Reason: plan.Reason{Code: plan.BlockedByPDB,
			Message: "pdb shop/d allows 0 more"}}}}
	p.Inputs = append(p.Inputs, plan.Input{Source: "strategies", Age: "0s", Coverage: 1,
		Problems: []string{"strategy hot has no goal: it needs a Ready node with cpu"}})
	p.Inputs = append(p.Inputs, plan.Input{Source: "prometheus", Statistic: "p90 over 5m", Age: "7m3s", Coverage: .666,
		Problems: []string{"n3 has no sample", "answer older than 3m"}})
	return p
}

// hotNodesPlan returns a plan for a cluster with more nodes than the table shows.
func hotNodesPlan() plan.Plan {
	p := newPlan()
	for i := range 30 {
		cpu := .4
		if i == 7 {
			cpu = .925
		}
		name, zone := fmt.Sprintf("node-%02d", i), fmt.Sprintf("z%d", i%8+1)
		n := plan.NodeState{Name: name, Zone: zone, Requested: map[string]float64{"cpu": cpu, "memory": .3, "nvidia.com/gpu": .5},
			Used: map[string]float64{"cpu": cpu / 2}}
		p.Before.Nodes = append(p.Before.Nodes, n)
		switch i {
		case 7:
			n.Requested = map[string]float64{"cpu": .825, "memory": .25, "nvidia.com/gpu": .5}
		case 21:
			n.Requested = map[string]float64{"cpu": .5, "memory": .35, "nvidia.com/gpu": .5}
		}
		p.After.Nodes = append(p.After.Nodes, n)
		w := workloadState("StatefulSet", fmt.Sprintf("db-%02d", i), 1, 3, 0, 0)
		p.Before.Workloads = append(p.Before.Workloads, w)
		p.After.Workloads = append(p.After.Workloads, w)
	}
	last := workloadState("ReplicaSet", "web", 4, 2, 2, 2)
	last.CategoryCertain = true
	p.Before.Workloads, p.After.Workloads = append(p.Before.Workloads, last), append(p.After.Workloads, last)
	p.Inputs = append(p.Inputs, plan.Input{Source: "metricsServer", Statistic: "latest", Age: "12s", Coverage: 1})
	p.Goals = []plan.Goal{
		{ID: "g1", Strategy: "hot-nodes", Kind: plan.NodeBelow, Basis: plan.BasisLoad, Resource: "cpu", Limit: .8, Weight: 1, Excess: .125,
			Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "node-07"}},
		{ID: "g2", Strategy: "drain", Kind: plan.NodeEmpty, Weight: 1, Excess: 3, Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node",
			Name: "node-08"}},
		{ID: "g3", Strategy: "old", Kind: plan.PodAway, Weight: 1, Excess: 1, Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Pod",
			Namespace: "shop", Name: "web-1"}},
	}
	p.Moves = []plan.Move{{Pod: plan.PodRef{Namespace: "shop", Name: "web-1", UID: "u"}, Owner: plan.ObjectRef{Kind: "ReplicaSet",
		Name: "web"}, Goals: []string{"g1", "g3"},
		From: "node-07", To: "node-21", Acceptable: plan.Acceptable{Nodes: 29}, Confidence: .9923, ReturnProbability: .0077,
		Strategy: "hot-nodes", Step: 1, Wave: 1, Steer: "none",
		Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: "node-07 requests 92.5% of its cpu; 80% wanted"}, Benefit: .1}}
	p.After.Excess = map[string]float64{"g1": .045, "g2": 3, "g3": 0}
	p.Bound = plan.Bound{MinEvictions: 4, MinForPlan: 1, Residual: .2, ResidualByGoal: map[string]float64{"g1": .025}, Unmet: .16,
		UnmetGoals: []plan.UnmetGoal{{Goal: "g1", Reason: plan.UnmetByScheduler, Excess: .02,
			Rejections: map[plan.Code]int{plan.WouldReturn: 4},
			Detail:     "node-07 stays above 80% of its cpu (g1): WouldReturn 4; replacements are too likely to return to node-07 (4)"}}}
	return p
}

// pressureHintsPlan returns a plan of a dry run with a hint in every state.
func pressureHintsPlan() plan.Plan {
	p := nothingToDoPlan()
	since, until := taken.Add(-time.Hour), taken.Add(5*time.Minute)
	p.Pressure = []plan.PressureHint{
		{Node: "n1", State: plan.HintPresent, Rule: "memory", Value: .875, OtherRules: []string{"cpu"}, Since: since, Expires: until},
		{Node: "n2", State: plan.HintToWrite, Predicted: true, Rule: "load5", Value: 17.25, Since: taken, Expires: until},
		{Node: "n3", State: plan.HintToRemove, Predicted: true, Rule: "cpu", Value: .9, Since: since, Expires: until},
		{Node: "n4", State: plan.HintExpired, Predicted: true, Rule: "cpu", Value: .9, Since: since, Expires: since},
		{Node: "n4", State: plan.HintForeign, ForeignHint: "label status=presure", RemoveCommand: "kubectl label node n4 status-"},
		{Node: "n5", State: plan.HintAwaitingSamples, Rule: "cpu", Value: .8, Samples: 1, RequiredSamples: 2},
		{Node: "n6", State: plan.HintLimitReached},
		{Node: "n7\x1b", State: plan.HintToWrite, Rule: "cpu", Value: .9, Since: taken, Expires: until},
		{Node: "n8", State: plan.HintToRemove, Rule: "cpu", Value: .9, Since: since, Expires: until},
		{Node: "n10", State: plan.HintMissing, Rule: "cpu", Value: .9, Since: since, Expires: until},
		{Node: "n11", State: plan.HintInvalidRecord, Problem: "it cannot be read"},
		{Node: "n9", State: plan.HintExpired, Rule: "cpu", Value: .9, Since: since, Expires: since},
	}
	return p
}

// hostileNamesPlan returns a plan with names that contain control characters.
func hostileNamesPlan() plan.Plan {
	p := threeZonesPlan()
	p.Moves = p.Moves[:1]
	p.After.Excess, p.Bound.MinForPlan = map[string]float64{"g1": 1}, 1
	p.Moves[0].Pod.Name = "x\x1b[2J\x07"
	p.Moves[0].Reason.Message = "two\nlines\tand \u202eturned \u009b and \xff broken"
	p.Before.Nodes[0].Name = "n\r1"
	p.Before.Workloads[0].Name = "ünïcode-日"
	p.Before.Workloads[0].FailureCategory = 1
	return p
}

func newOutcome(step int, name string, kind plan.OutcomeKind, landed string, predicted bool) plan.Outcome {
	return plan.Outcome{Step: step, Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "u-" + name}, Outcome: kind, Landed: landed,
		LandedAsPredicted: predicted}
}

func newRun(mode plan.Mode, p plan.Plan, outcomes ...plan.Outcome) plan.RunReport {
	return plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: "r-1", Mode: mode, Started: taken.Add(time.Second),
		Finished: taken.Add(12345 * time.Millisecond), Plan: p, Outcomes: outcomes}
}

// liveRun returns a run in which a replacement landed elsewhere and an eviction was blocked.
func liveRun() plan.RunReport {
	p := threeZonesPlan()
	p.Moves = append(p.Moves, newMove(3, "d-6f9c-x3", "n3", "n2"))
	good, bad := newOutcome(1, "d-6f9c-x1", plan.Evicted, "n1", true), newOutcome(2, "d-6f9c-x2", plan.Evicted, "n3", false)
	good.Replacement, good.ReadyAfter = &plan.PodRef{Namespace: "shop", Name: "d-6f9c-y1", UID: "u-y1"}, "4s"
	bad.Replacement, bad.ReadyAfter = &plan.PodRef{Namespace: "shop", Name: "d-6f9c-y2", UID: "u-y2"}, "5s"
	bad.Reason = plan.Reason{Code: plan.LandedElsewhere, Message: "n2 was predicted"}
	refused := newOutcome(3, "d-6f9c-x3", plan.Blocked, "", false)
	refused.Reason = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb shop/d allows 0 more"}
	r := newRun(plan.Live, p, good, bad, refused)
	r.Stopped = &plan.Reason{Code: plan.Interrupted, Message: "asked to end by a signal"}
	return r
}

// runWithoutEvictions returns the run of an approved plan without any eviction.
func runWithoutEvictions() plan.RunReport {
	gone, other := newOutcome(1, "d-6f9c-x1", plan.AlreadyGone, "", false), newOutcome(2, "d-6f9c-x2", plan.Dropped, "", false)
	gone.Reason = plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}
	other.Reason = plan.Reason{Code: plan.PremiseChanged, Message: "the pod is no longer on n3"}
	r := newRun(plan.Live, threeZonesPlan(), gone, other)
	r.Approval = &plan.Approval{By: "alice", At: taken}
	return r
}

// refusedPlanRun returns the run of a saved plan that was refused.
func refusedPlanRun() plan.RunReport {
	r := newRun(plan.Live, threeZonesPlan(), newOutcome(1, "d-6f9c-x1", plan.Dropped, "", false),
		newOutcome(2, "d-6f9c-x2", plan.Dropped, "", false))
	for i := range r.Outcomes {
		r.Outcomes[i].Reason = plan.Reason{Code: plan.PlanRefused, Message: "not tried: the plan was refused"}
	}
	r.Stopped = &plan.Reason{Code: plan.PlanRefused, Message: "the plan expired at 2026-01-01T00:00:00Z; make a new plan"}
	r.Approval = &plan.Approval{By: "alice", At: taken}
	return r
}

// refusedRun returns a run that did not plan because its view of the pods was stale.
func refusedRun() plan.RunReport {
	r := newRun(plan.Live, plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ID: "p-0", TakenAt: taken, Expires: taken})
	r.Stopped = &plan.Reason{Code: plan.ClusterViewStale,
		Message: "pods are known as of 2026-01-01T00:00:00Z only, 3m0s ago, longer than 2m0s"}
	r.Plan.NothingJudged = []plan.Reason{*r.Stopped}
	return r
}

// nothingJudgedPlan returns a plan with an unmet goal and two causes why nothing could be judged. One message has a
// control character.
func nothingJudgedPlan() plan.Plan {
	p := blockedByBudgetPlan()
	p.NothingJudged = []plan.Reason{
		{Code: plan.UntrustedServerVersion, Message: "kube-scheduler 1.32\x1b is not supported; use a supported version"},
		{Code: plan.NoUsageData, Message: "strategy hot: no usage data: metricsServer gave no answer; check load in the configuration"},
	}
	return p
}

// recoveredRun returns a run that the next process reports.
func recoveredRun() plan.RunReport {
	r := liveRun()
	r.Recovery = &plan.Recovery{Holder: "evenkeel-0_1a2b"}
	r.Stopped.Message = "the process of this pass (evenkeel-0_1a2b) ended before it recorded the end of the pass; the next process found these outcomes of its reservations"
	return r
}

// dryRun returns a dry run of the basic scenario.
func dryRun() plan.RunReport {
	return newRun(plan.DryRun, threeZonesPlan(), newOutcome(1, "d-6f9c-x1", plan.WouldEvict, "", false), newOutcome(2, "d-6f9c-x2", plan.WouldEvict, "",
		false))
}
