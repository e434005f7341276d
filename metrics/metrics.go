// Package metrics exports Prometheus metrics about passes, plans, evictions, hints and reloads.
//
// The package decides the names and labels. Label values come from bounded sets (reason codes, outcomes, strategy names
// of the configuration), so the number of series is bounded. The package never makes a decision from a metric.
package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Metrics holds all metrics and the registry that contains them.
type Metrics struct {
	Registry *prometheus.Registry

	passes       *prometheus.CounterVec
	passSeconds  prometheus.Histogram
	lastPass     prometheus.Gauge
	skipped      *prometheus.CounterVec
	planned      *prometheus.GaugeVec
	proposed     *prometheus.GaugeVec
	minEvictions prometheus.Gauge
	unmetGoals   *prometheus.GaugeVec
	nodesToEmpty *prometheus.GaugeVec
	rejected     *prometheus.GaugeVec
	unjudged     *prometheus.GaugeVec
	outcomes     *prometheus.CounterVec
	landings     *prometheus.CounterVec
	leader       prometheus.Gauge
	bindings     *prometheus.CounterVec
	hitRate      *prometheus.GaugeVec
	info         *prometheus.GaugeVec
	reloads      *reloadMetrics
	hints        *hintMetrics
	paused       prometheus.Gauge
	breaker      prometheus.Gauge
	waiting      *prometheus.GaugeVec
	announced    prometheus.Counter
	usage        *usageMetrics // nil without a usage source

	notifications *notificationMetrics
}

// New creates and registers the metrics. The version and configHash become labels of evenkeel_build_info.
func New(version, configHash string) *Metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := &Metrics{
		Registry: r,
		passes: newCounters(r, "evenkeel_passes_total",
			"Passes by mode and stop reason (empty if the pass was not stopped).", "mode", "stopped"),
		passSeconds: newHistogram(r, "evenkeel_pass_duration_seconds",
			"Duration of a pass in seconds, including verification.", 10),
		lastPass: newGauge(r, "evenkeel_last_pass_timestamp_seconds",
			"Unix time at which the last pass that made a plan finished."),
		skipped: newCounters(r, "evenkeel_schedule_skipped_total",
			"Number of times that a strategy was due while a pass was running.", "strategy"),
		planned: newGauges(r, "evenkeel_planned_moves", "Moves of the last plan, by strategy.", "strategy"),
		proposed: newGauges(r, "evenkeel_proposed_moves",
			"Moves of the last plan for strategies in mode approve or dryRun, by mode and strategy. The pass does not execute them.",
			"mode", "strategy"),
		minEvictions: newGauge(r, "evenkeel_plan_min_evictions",
			"Lower bound on evictions for every goal that permitted evictions can reach (bound.minEvictions of the last plan)."),
		unmetGoals: newGauges(r, "evenkeel_goals_unmet",
			"Goals with excess, by strategy, before the last plan and predicted after it. Nodes to empty do not count.",
			"strategy", "when"),
		nodesToEmpty: newGauges(r, "evenkeel_underutilized_nodes",
			"Nodes that NodeConsolidation would empty, by strategy, before the last plan and predicted after it. Such a node may stay.",
			"strategy", "when"),
		rejected: newGauges(r, "evenkeel_rejected_pods",
			"Pods that could reduce excess but are not moved in the last plan, by reason code.", "code"),
		unjudged: newGauges(r, "evenkeel_nothing_judged",
			"1 for each cause why the last pass could judge nothing, by reason code. 0 for all other causes.", "cause"),
		outcomes: newCounters(r, "evenkeel_evictions_total",
			"Moves by outcome and strategy. Only outcome=evicted removed a pod.",
			"outcome", "strategy"),
		landings: newCounters(r, "evenkeel_landings_total",
			"Replacements that were seen, by whether they landed as predicted.", "as_predicted"),
		bindings: newCounters(r, "evenkeel_scheduler_bindings_total",
			"Bindings made by schedulers (at most 16 names), by result: the model predicted the node (hit), predicted "+
				"another node (miss), or could not predict one (unclear).", "scheduler", "result"),
		hitRate: newGauges(r, "evenkeel_scheduler_hit_ratio",
			"Share of predicted bindings that were correct, by scheduler, over the latest predictions (placement.trust.minBindings).",
			"scheduler"),
		leader:  newGauge(r, "evenkeel_leader", "1 while this process holds the Lease."),
		paused:  newGauge(r, "evenkeel_paused", "1 if evictions were paused (evenkeel pause) at the last pass."),
		breaker: newGauge(r, "evenkeel_breaker_open", "1 if the breaker blocked or stopped the last pass."),
		info: newGauges(prometheus.WrapRegistererWith(prometheus.Labels{"version": version}, r), "evenkeel_build_info",
			"1, with the version and the configuration hash as labels.", "config_hash"),
		waiting: newGauges(r, "evenkeel_waiting_moves", "Moves that wait for approval after the last pass, by strategy.", "strategy"),
		announced: promauto.With(r).NewCounter(prometheus.CounterOpts{Name: "evenkeel_plans_announced_total",
			Help: "Plans that wait for approval and have a move that was not announced before."}),
		reloads: newReloadMetrics(r),
		hints:   newHintMetrics(r),

		notifications: newNotificationMetrics(r),
	}
	m.SetConfigHash(configHash)
	m.recordNothingJudged(nil)
	return m
}

// SetConfigHash sets the configuration hash that is in effect from the next pass on.
func (m *Metrics) SetConfigHash(hash string) {
	m.info.Reset()
	m.info.WithLabelValues(hash).Set(1)
}

// RecordBinding counts a binding made by a scheduler. The counts b include this binding. predicted
// reports whether the model predicted a node, and hit reports whether the prediction was correct.
func (m *Metrics) RecordBinding(scheduler string, b plan.SchedulerBindings, hit, predicted bool) {
	result := "unclear"
	switch {
	case hit:
		result = "hit"
	case predicted:
		result = "miss"
	}
	m.bindings.WithLabelValues(scheduler, result).Inc()
	if b.Predicted > 0 {
		m.hitRate.WithLabelValues(scheduler).Set(b.HitRate())
	}
}

// SetLeading records whether this process holds the Lease.
func (m *Metrics) SetLeading(yes bool) {
	setBool(m.leader, yes)
}

// RecordSkipped counts strategies that were due while a pass was running.
func (m *Metrics) RecordSkipped(strategies []string) {
	for _, s := range strategies {
		m.skipped.WithLabelValues(s).Inc()
	}
}

// RecordPass counts a pass and its outcomes. A pass that ended before planning leaves the plan gauges unchanged, and so
// does an approved plan: it comes from another process, which may have put any code and any count into it.
func (m *Metrics) RecordPass(r plan.RunReport) {
	stopped := ""
	if r.Stopped != nil {
		stopped = string(r.Stopped.Code)
	}
	m.passes.WithLabelValues(string(r.Mode), stopped).Inc()
	if r.Recovery == nil { // a recovered pass ran in an earlier process
		if r.Approval == nil && (!r.EndedBeforePlanning() || len(r.Plan.NothingJudged) > 0) {
			m.recordNothingJudged(r.Plan.NothingJudged)
		}
		m.passSeconds.Observe(r.Finished.Sub(r.Started).Seconds())
		if !r.EndedBeforePlanning() {
			m.lastPass.Set(float64(r.Finished.Unix()))
			if r.Approval == nil {
				m.recordPlan(r.Plan)
				m.recordWaiting(r.Waiting)
			}
			m.recordBlocks(r)
		}
	}
	strategy := map[int]string{}
	for _, mv := range r.Moves() {
		strategy[mv.Step] = mv.Strategy
	}
	for _, o := range r.Outcomes {
		m.outcomes.WithLabelValues(string(o.Outcome), strategy[o.Step]).Inc()
		if o.Landed != "" {
			m.landings.WithLabelValues(strconv.FormatBool(o.LandedAsPredicted)).Inc()
		}
	}
}

func (m *Metrics) recordPlan(p plan.Plan) {
	m.minEvictions.Set(float64(p.Bound.MinEvictions))
	m.planned.Reset()
	for _, mv := range p.Moves {
		m.planned.WithLabelValues(mv.Strategy).Inc()
	}
	m.proposed.Reset()
	for _, of := range p.Proposals {
		for _, mv := range of.Plan.Moves {
			m.proposed.WithLabelValues(string(of.Mode), mv.Strategy).Inc()
		}
	}
	m.recordGoals(p)
	m.rejected.Reset()
	for code, n := range p.Rejections.Counts {
		m.rejected.WithLabelValues(string(code)).Set(float64(n))
	}
}

// recordGoals counts the unmet goals. A node to empty violates nothing, so it has a gauge of its own.
func (m *Metrics) recordGoals(p plan.Plan) {
	m.unmetGoals.Reset()
	m.nodesToEmpty.Reset()
	for _, n := range p.PodGoals {
		m.unmetGoals.WithLabelValues(n.Strategy, "before").Add(float64(n.Unmet))
		m.unmetGoals.WithLabelValues(n.Strategy, "after").Add(float64(n.UnmetAfter))
	}
	for _, g := range p.Goals {
		gauge := m.unmetGoals
		switch g.Kind {
		case plan.PodAway:
			continue // counted above
		case plan.NodeEmpty:
			gauge = m.nodesToEmpty
		}
		gauge.WithLabelValues(g.Strategy, "before").Inc()
		if p.After.Excess[g.ID] > 0 {
			gauge.WithLabelValues(g.Strategy, "after").Inc()
		}
	}
}

// recordWaiting sets the gauges of the plans that wait for approval. After a problem the gauges stay as they are.
func (m *Metrics) recordWaiting(w *plan.Waiting) {
	if w != nil && w.Problem != nil {
		return
	}
	m.waiting.Reset()
	if w == nil {
		return
	}
	for _, p := range w.Plans {
		for strategy, n := range p.Strategies {
			m.waiting.WithLabelValues(strategy).Add(float64(n))
		}
		if p.Announced {
			m.announced.Inc()
		}
	}
}

// recordNothingJudged sets the gauge of each possible cause why a pass could judge nothing.
func (m *Metrics) recordNothingJudged(causes []plan.Reason) {
	for _, code := range plan.NothingJudgedCodes() {
		setBool(m.unjudged.WithLabelValues(string(code)), slices.ContainsFunc(causes, func(r plan.Reason) bool { return r.Code == code }))
	}
}

// recordBlocks sets the gauges for each reason that blocked the pass. recordBlocks includes a
// reason that stopped the pass while it ran.
func (m *Metrics) recordBlocks(r plan.RunReport) {
	isBlocked := func(code plan.Code) bool {
		return r.Stopped != nil && r.Stopped.Code == code ||
			slices.ContainsFunc(r.Plan.Blocks, func(b plan.EvictionBlock) bool { return b.Reason.Code == code })
	}
	setBool(m.paused, isBlocked(plan.Paused))
	setBool(m.breaker, isBlocked(plan.BreakerOpen))
}

func setBool(g prometheus.Gauge, yes bool) {
	g.Set(0)
	if yes {
		g.Set(1)
	}
}

func newGauge(r prometheus.Registerer, name, help string) prometheus.Gauge {
	return promauto.With(r).NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func newGauges(r prometheus.Registerer, name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(r).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func newCounters(r prometheus.Registerer, name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(r).NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// newHistogram registers a histogram of durations in seconds. The upper bound of the first bucket
// is 0.01 s, and each further bound is four times as long.
func newHistogram(r prometheus.Registerer, name, help string, buckets int) prometheus.Histogram {
	return promauto.With(r).NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
		Buckets: prometheus.ExponentialBuckets(0.01, 4, buckets)})
}
