package metrics

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	beforeFirstPlan = "before the first plan"
	notPredicted    = beforeFirstPlan + " for which a strategy with unmet goals was due"
)

var modeLabel = label{"mode", "`automatic`, `approve`, `dryRun`: the [mode](approvals.md) of the strategy"}

var (
	defPlanned = definition{name: "evenkeel_planned_moves", kind: gauge, unit: "moves",
		help:   "Moves of the last plan by mode and strategy. A pass executes only those in mode automatic.",
		labels: []label{modeLabel, strategyLabel}, absent: beforeFirstPlan}
	defMinEvictions = definition{name: "evenkeel_plan_min_evictions", kind: gauge, unit: "evictions",
		help:   "Lower bound on evictions for every goal that permitted evictions can reach (bound.minEvictions of the last plan).",
		absent: beforeFirstPlan}
	defGoals = definition{name: "evenkeel_goals", kind: gauge, unit: "goals",
		help:   "Goals that the strategy stated in the last plan, met or not. Nodes to empty do not count.",
		labels: []label{strategyLabel}, absent: beforeFirstPlan}
	defUnmet = definition{name: "evenkeel_unmet_goals", kind: gauge, unit: "goals",
		help: "Goals with excess when the last plan was made. Nodes to empty do not count.", labels: []label{strategyLabel}, absent: beforeFirstPlan}
	defPredictedUnmet = definition{name: "evenkeel_predicted_unmet_goals", kind: gauge, unit: "goals",
		help: "Goals with excess that a plan predicts after its moves; in mode approve or dryRun, as if its proposed moves were executed. " +
			"It is the last plan for which the strategy was due. Nodes to empty do not count.",
		labels: []label{strategyLabel}, absent: notPredicted}
	defUnderutilized = definition{name: "evenkeel_underutilized_nodes", kind: gauge, unit: "nodes",
		help:   "Nodes that NodeConsolidation would empty when the last plan was made. Such a node violates nothing and may stay.",
		labels: []label{strategyLabel}, absent: beforeFirstPlan}
	defPredictedUnderutilized = definition{name: "evenkeel_predicted_underutilized_nodes", kind: gauge, unit: "nodes",
		help: "Nodes that NodeConsolidation would empty and that still have pods after the moves of a plan; in mode approve or dryRun, as if " +
			"its proposed moves were executed. It is the last plan for which the strategy was due.",
		labels: []label{strategyLabel}, absent: notPredicted}
	defRejected = definition{name: "evenkeel_rejected_pods", kind: gauge, unit: "pods",
		help:   "Pods that could reduce excess but are not moved in the last plan, by the mode of the strategies whose goals they could help.",
		labels: []label{modeLabel, {"reason", "[reason codes](reasons.md)"}}, absent: "a reason that has applied to no pod since the start"}
	defNotTried = definition{name: "evenkeel_plan_goals_not_tried", kind: gauge, unit: "goals",
		help:   "Unmet goals at which the last plan did not look, because `limits.maxPlanTime` or `limits.maxPredictions` ended it.",
		absent: beforeFirstPlan}
	defLimitUsed = definition{name: "evenkeel_limit_used_ratio", kind: gauge, unit: "share of 1",
		help: "Share of a limit that the last plan uses. Limits per hour include the evictions of the last hour. " +
			"A limit that applies to each node, namespace, owner or zone shows the highest share. Limits of single strategies do not count.",
		labels: []label{{"limit", "keys of the [configuration](config.md), such as `limits.perPass`; in an open window, its stricter limits count"}},
		absent: beforeFirstPlan + "; limits that are not set"}
	defWaiting = definition{name: "evenkeel_waiting_moves", kind: gauge, unit: "moves",
		help: "Moves that wait for approval after the last pass or approval.", labels: []label{strategyLabel}, absent: beforeFirstPlan}
	defAnnounced = definition{name: "evenkeel_plans_announced_total", kind: counter, unit: "plans",
		help: "Plans that wait for approval and have a move that was not announced before."}
)

type planMetrics struct {
	planned, goals, unmet, predictedUnmet *gauges
	minEvictions, notTried                *gauges
	underutilized, predictedUnderutilized *gauges
	rejected, limitUsed                   *gauges
	waiting                               *gauges
	announced                             prometheus.Counter

	rejections  map[rejection]bool    // those that a plan has had since the start
	predictions map[string]prediction // by strategy
}

// rejection is a reason why pods stay that could help goals of strategies in a mode.
type rejection struct {
	mode plan.StrategyMode
	code plan.Code
}

// prediction counts what is left of the goals of a strategy after the moves of a plan.
type prediction struct{ unmet, nodes int }

func newPlanMetrics(r prometheus.Registerer) *planMetrics {
	return &planMetrics{planned: defPlanned.newGauges(r), minEvictions: defMinEvictions.newGauges(r), notTried: defNotTried.newGauges(r), goals: defGoals.newGauges(r),
		unmet: defUnmet.newGauges(r), predictedUnmet: defPredictedUnmet.newGauges(r), underutilized: defUnderutilized.newGauges(r),
		predictedUnderutilized: defPredictedUnderutilized.newGauges(r), rejected: defRejected.newGauges(r),
		limitUsed: defLimitUsed.newGauges(r), waiting: defWaiting.newGauges(r), announced: defAnnounced.newCounter(r),
		rejections: map[rejection]bool{}, predictions: map[string]prediction{}}
}

func (p *planMetrics) recordPlan(of plan.Plan) {
	p.minEvictions.set(float64(of.Bound.MinEvictions))
	p.notTried.set(float64(of.GoalsNotTried))
	p.recordMoves(of)
	p.recordGoals(of)
	p.recordRejections(of)
	var used []sample
	for _, l := range of.LimitUse {
		used = append(used, newSample(l.Share, l.Limit))
	}
	p.limitUsed.replace(used)
}

// recordRejections counts the rejections of the plan and of its proposals. The value of a code that no longer applies
// is 0.
func (p *planMetrics) recordRejections(of plan.Plan) {
	counts := map[rejection]int{}
	add := func(mode plan.StrategyMode, byCode map[plan.Code]int) {
		for code, pods := range byCode {
			counts[rejection{mode, code}] = pods
			p.rejections[rejection{mode, code}] = true
		}
	}
	add(plan.Automatic, of.Rejections.Counts)
	for _, proposal := range of.Proposals {
		add(proposal.Mode, proposal.Plan.Rejections.Counts)
	}
	var rejected []sample
	for r := range p.rejections {
		rejected = append(rejected, newSample(float64(counts[r]), string(r.mode), string(r.code)))
	}
	p.rejected.replace(rejected)
}

func (p *planMetrics) recordMoves(of plan.Plan) {
	planned := []sample{}
	for _, st := range of.Strategies {
		planned = append(planned, newSample(0, string(cmp.Or(st.Mode, plan.Automatic)), st.Name))
	}
	for _, m := range of.Moves {
		planned = append(planned, newSample(1, string(plan.Automatic), m.Strategy))
	}
	for _, proposal := range of.Proposals {
		for _, m := range proposal.Plan.Moves {
			planned = append(planned, newSample(1, string(proposal.Mode), m.Strategy))
		}
	}
	p.planned.replace(planned)
}

// recordGoals counts the goals. A node to empty violates nothing, so it has gauges of its own.
func (p *planMetrics) recordGoals(of plan.Plan) {
	var stated, unmet, nodes []sample
	for _, st := range of.Strategies {
		stated = append(stated, newSample(float64(st.Goals-st.NodesToEmpty), st.Name))
		unmet = append(unmet, newSample(float64(st.Unmet-st.NodesToEmpty), st.Name))
		nodes = append(nodes, newSample(float64(st.NodesToEmpty), st.Name))
	}
	p.goals.replace(stated)
	p.unmet.replace(unmet)
	p.underutilized.replace(nodes)
	p.recordPrediction(of)
}

// recordPrediction counts the goals that stay unmet. A plan says nothing about the unmet goals of a strategy that was
// not due, so the strategy keeps its last prediction.
func (p *planMetrics) recordPrediction(of plan.Plan) {
	predictions := map[string]prediction{}
	var unmet, nodes []sample
	for _, st := range of.Strategies {
		predicted, known := p.predictions[st.Name]
		if st.Due || st.Unmet == 0 {
			predicted, known = predict(of, st), true
		}
		if known {
			predictions[st.Name] = predicted
			unmet = append(unmet, newSample(float64(predicted.unmet), st.Name))
			nodes = append(nodes, newSample(float64(predicted.nodes), st.Name))
		}
	}
	p.predictions = predictions
	p.predictedUnmet.replace(unmet)
	p.predictedUnderutilized.replace(nodes)
}

// predict counts in the plan, or in the proposal that has the strategy.
func predict(of plan.Plan, st plan.StrategyState) (out prediction) {
	if mode := cmp.Or(st.Mode, plan.Automatic); mode != plan.Automatic {
		i := slices.IndexFunc(of.Proposals, func(p plan.Proposal) bool { return p.Mode == mode })
		if i < 0 {
			return prediction{}
		}
		of = of.Proposals[i].Plan
	}
	for _, n := range of.PodGoals {
		if n.Strategy == st.Name {
			out.unmet += n.UnmetAfter
		}
	}
	for _, g := range of.Goals {
		switch {
		case g.Strategy != st.Name || of.After.Excess[g.ID] <= 0 || g.Kind == plan.PodAway: // PodGoals counts PodAway
		case g.Kind == plan.NodeEmpty:
			out.nodes++
		default:
			out.unmet++
		}
	}
	return out
}

// recordWaiting sets the gauges of the plans that wait for approval. After a problem the gauges stay as they are.
func (p *planMetrics) recordWaiting(strategies []plan.StrategyState, w *plan.Waiting) {
	if w != nil && w.Problem != nil {
		return
	}
	moves := map[string]int{}
	for _, st := range strategies {
		if st.Mode == plan.Approve {
			moves[st.Name] = 0
		}
	}
	if w != nil {
		for _, of := range w.Plans {
			for strategy, n := range of.Strategies {
				moves[strategy] += n
			}
			if of.Announced {
				p.announced.Inc()
			}
		}
	}
	p.setWaiting(moves)
}

func (p *planMetrics) setWaiting(moves map[string]int) {
	var waiting []sample
	for strategy, n := range moves {
		waiting = append(waiting, newSample(float64(n), strategy))
	}
	p.waiting.replace(waiting)
}

// RecordWaiting sets the number of moves that wait for approval, by strategy, after a person approved some of them.
func (m *Metrics) RecordWaiting(moves map[string]int) { m.plans.setWaiting(moves) }
