// Package metrics counts what Evenkeel does, in Prometheus form.
//
// It decides names, labels and what is counted. Label values come from closed
// sets (reason codes, outcomes, strategy names of the configuration), so that
// no cluster can make them grow. It never decides anything from a count.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Metrics are all metrics, in a registry of their own.
type Metrics struct {
	Registry *prometheus.Registry

	passes           *prometheus.CounterVec
	passSeconds      prometheus.Histogram
	lastPass         prometheus.Gauge
	skipped          *prometheus.CounterVec
	planned          *prometheus.GaugeVec
	minEvictions     prometheus.Gauge
	unmetGoals       *prometheus.GaugeVec
	rejected         *prometheus.GaugeVec
	outcomes         *prometheus.CounterVec
	landings         *prometheus.CounterVec
	leader           prometheus.Gauge
	bindings         *prometheus.CounterVec
	hitRate          *prometheus.GaugeVec
	info             *prometheus.GaugeVec
	reloads          *reloadMetrics
	hints            *hintMetrics
	paused           prometheus.Gauge
	breaker          prometheus.Gauge
	ineffective      *prometheus.GaugeVec
	benefit          *prometheus.GaugeVec
	benefitEvictions *prometheus.GaugeVec
	usage            *usageMetrics // nil where no source of usage is asked
}

// New makes the metrics; version and configHash are shown as labels of 1.
func New(version, configHash string) *Metrics {
	m := &Metrics{
		Registry:         prometheus.NewRegistry(),
		passes:           prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_passes_total", Help: "Passes by mode and by why they stopped early (empty: they did not)."}, []string{"mode", "stopped"}),
		passSeconds:      prometheus.NewHistogram(prometheus.HistogramOpts{Name: "evenkeel_pass_duration_seconds", Help: "How long a pass took, verification included.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 10)}),
		lastPass:         prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_last_pass_timestamp_seconds", Help: "When the last pass finished that made a plan."}),
		skipped:          prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_schedule_skipped_total", Help: "Times a strategy was due while a pass was running."}, []string{"strategy"}),
		planned:          prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_planned_moves", Help: "Moves of the last plan by strategy."}, []string{"strategy"}),
		minEvictions:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_plan_min_evictions", Help: "No plan that brings every goal as near as permitted evictions can needs fewer (bound.minEvictions of the last plan)."}),
		unmetGoals:       prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_goals_unmet", Help: "Goals with excess by strategy, before the last plan and as predicted after it."}, []string{"strategy", "when"}),
		rejected:         prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_rejected_pods", Help: "Pods that could have helped but stay, by reason code, in the last plan."}, []string{"code"}),
		outcomes:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_evictions_total", Help: "Moves by outcome and strategy; only outcome=evicted removed a pod."}, []string{"outcome", "strategy"}),
		landings:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_landings_total", Help: "Replacements seen, by whether they landed as predicted."}, []string{"as_predicted"}),
		bindings:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_scheduler_bindings_total", Help: "Bindings of schedulers without a profile (at most 16 names) that were looked at: as the default profile has it (hit), otherwise (miss), or it does not say enough (unclear)."}, []string{"scheduler", "result"}),
		hitRate:          prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_scheduler_hit_ratio", Help: "Share of predicted bindings that were correct, by scheduler without a profile; the last 500 to 1000 count."}, []string{"scheduler"}),
		leader:           prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_leader", Help: "1 while this process holds the Lease."}),
		paused:           prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_paused", Help: "1 when evictions were paused (evenkeel pause) at the last pass."}),
		breaker:          prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_breaker_open", Help: "1 if the breaker blocked or stopped the last pass."}),
		ineffective:      prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_strategy_ineffective", Help: "1 for a strategy that is suspended because its evictions are ineffective."}, []string{"strategy"}),
		benefit:          prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_benefit_excess", Help: "Share of the goals' excess, weighted, that a strategy's evictions were predicted to remove and that they did remove (when=predicted, realised); older evictions count for less."}, []string{"strategy", "when"}),
		benefitEvictions: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_benefit_evictions", Help: "Evictions that weigh in evenkeel_benefit_excess; older ones count for less."}, []string{"strategy"}),
	}
	m.info = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_build_info", Help: "1, with version and hash of the configuration.",
		ConstLabels: prometheus.Labels{"version": version}}, []string{"config_hash"})
	m.SetConfigHash(configHash)
	m.reloads, m.hints = newReloadMetrics(m.Registry), newHintMetrics(m.Registry)
	m.Registry.MustRegister(m.info, m.passes, m.passSeconds, m.lastPass, m.skipped, m.planned, m.minEvictions, m.unmetGoals, m.rejected,
		m.outcomes, m.landings, m.leader, m.bindings, m.hitRate, m.paused, m.breaker, m.ineffective, m.benefit, m.benefitEvictions, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// SetConfigHash notes which configuration is in effect from the next pass on.
func (m *Metrics) SetConfigHash(hash string) {
	m.info.Reset()
	m.info.WithLabelValues(hash).Set(1)
}

// RecordBinding notes a binding of a scheduler without a profile; b are its counts with
// it, told whether the model predicted it, hit whether the prediction was right.
func (m *Metrics) RecordBinding(scheduler string, b plan.SchedulerBindings, hit, told bool) {
	result := "unclear"
	switch {
	case hit:
		result = "hit"
	case told:
		result = "miss"
	}
	m.bindings.WithLabelValues(scheduler, result).Inc()
	if b.Predicted > 0 {
		m.hitRate.WithLabelValues(scheduler).Set(b.HitRate())
	}
}

// SetLeading notes whether this process holds the Lease.
func (m *Metrics) SetLeading(yes bool) {
	m.leader.Set(0)
	if yes {
		m.leader.Set(1)
	}
}

// RecordSkipped counts strategies that were due while a pass was running.
func (m *Metrics) RecordSkipped(strategies []string) {
	for _, s := range strategies {
		m.skipped.WithLabelValues(s).Inc()
	}
}

// RecordPass counts one pass.
func (m *Metrics) RecordPass(r plan.RunReport) {
	stopped := ""
	if r.Stopped != nil {
		stopped = string(r.Stopped.Code)
	}
	m.passes.WithLabelValues(string(r.Mode), stopped).Inc()
	if r.Recovery == nil { // of another process, long ago
		m.passSeconds.Observe(r.Finished.Sub(r.Started).Seconds())
	}
	if r.Recovery == nil && !r.EndedBeforePlanning() {
		m.lastPass.Set(float64(r.Finished.Unix()))
	}
	if !r.EndedBeforePlanning() && r.Recovery == nil { // the gauges keep to the last plan there was
		m.recordPlan(r.Plan)
		m.recordBlocks(r)
	}
	strategy := map[int]string{}
	for _, mv := range r.Moves() {
		strategy[mv.Step] = mv.Strategy
	}
	for _, o := range r.Outcomes {
		m.outcomes.WithLabelValues(string(o.Outcome), strategy[o.Step]).Inc()
		if o.Landed != "" {
			m.landings.WithLabelValues(map[bool]string{true: "true", false: "false"}[o.LandedAsPredicted]).Inc()
		}
	}
}

func (m *Metrics) recordPlan(p plan.Plan) {
	m.minEvictions.Set(float64(p.Bound.MinEvictions))
	m.planned.Reset()
	for _, mv := range p.Moves {
		m.planned.WithLabelValues(mv.Strategy).Inc()
	}
	m.unmetGoals.Reset()
	for _, g := range p.Goals {
		m.unmetGoals.WithLabelValues(g.Strategy, "before").Inc()
		if p.After.Excess[g.ID] > 0 {
			m.unmetGoals.WithLabelValues(g.Strategy, "after").Inc()
		}
	}
	m.rejected.Reset()
	for code, n := range p.Rejections.Counts {
		m.rejected.WithLabelValues(string(code)).Set(float64(n))
	}
}
