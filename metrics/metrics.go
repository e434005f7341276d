// Package metrics exports Prometheus metrics about passes, plans, evictions, hints and
// reloads.
//
// The package decides the names and labels. Label values come from bounded sets (reason codes,
// outcomes, strategy names of the configuration), so the number of series is bounded. The package
// never makes a decision from a metric.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

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
	minEvictions prometheus.Gauge
	unmetGoals   *prometheus.GaugeVec
	rejected     *prometheus.GaugeVec
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
	usage        *usageMetrics // nil without a usage source
}

// New creates and registers the metrics. The version and configHash become labels of
// evenkeel_build_info.
func New(version, configHash string) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		passes: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "evenkeel_passes_total", Help: "Passes by mode and stop reason (empty if the pass was not stopped)."},
			[]string{"mode", "stopped"},
		),
		passSeconds: prometheus.NewHistogram(
			prometheus.HistogramOpts{
				Name:    "evenkeel_pass_duration_seconds",
				Help:    "Duration of a pass in seconds, including verification.",
				Buckets: prometheus.ExponentialBuckets(0.01, 4, 10),
			},
		),
		lastPass: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "evenkeel_last_pass_timestamp_seconds", Help: "Unix time at which the last pass that made a plan finished."},
		),
		skipped: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "evenkeel_schedule_skipped_total",
				Help: "Number of times that a strategy was due while a pass was running.",
			},
			[]string{"strategy"},
		),
		planned: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{Name: "evenkeel_planned_moves", Help: "Moves of the last plan, by strategy."},
			[]string{"strategy"},
		),
		minEvictions: prometheus.NewGauge(
			prometheus.GaugeOpts{
				Name: "evenkeel_plan_min_evictions",
				Help: "Lower bound on evictions for every goal that permitted evictions can reach (bound.minEvictions of the last plan).",
			},
		),
		unmetGoals: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{Name: "evenkeel_goals_unmet", Help: "Goals with excess, by strategy, before the last plan and predicted after it."},
			[]string{"strategy", "when"},
		),
		rejected: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "evenkeel_rejected_pods",
				Help: "Pods that could reduce excess but are not moved in the last plan, by reason code.",
			},
			[]string{"code"},
		),
		outcomes: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "evenkeel_evictions_total", Help: "Moves by outcome and strategy. Only outcome=evicted removed a pod."},
			[]string{"outcome", "strategy"},
		),
		landings: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "evenkeel_landings_total", Help: "Replacements that were seen, by whether they landed as predicted."},
			[]string{"as_predicted"},
		),
		bindings: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "evenkeel_scheduler_bindings_total",
				Help: "Bindings made by schedulers without a profile (at most 16 names), by result: the model predicted the node (hit), predicted " +
					"another node (miss), or could not predict one (unclear).",
			},
			[]string{"scheduler", "result"},
		),
		hitRate: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "evenkeel_scheduler_hit_ratio",
				Help: "Share of predicted bindings that were correct, by scheduler without a profile, over the last 500 to 1000 predictions.",
			},
			[]string{"scheduler"},
		),
		leader: prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_leader", Help: "1 while this process holds the Lease."}),
		paused: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "evenkeel_paused", Help: "1 if evictions were paused (evenkeel pause) at the last pass."},
		),
		breaker: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "evenkeel_breaker_open", Help: "1 if the breaker blocked or stopped the last pass."},
		),
	}
	m.info = prometheus.NewGaugeVec(
		prometheus.GaugeOpts{Name: "evenkeel_build_info", Help: "1, with the version and the configuration hash as labels.",
			ConstLabels: prometheus.Labels{"version": version}},
		[]string{"config_hash"},
	)
	m.SetConfigHash(configHash)
	m.reloads, m.hints = newReloadMetrics(m.Registry), newHintMetrics(m.Registry)
	m.Registry.MustRegister(
		m.info,
		m.passes,
		m.passSeconds,
		m.lastPass,
		m.skipped,
		m.planned,
		m.minEvictions,
		m.unmetGoals,
		m.rejected,
		m.outcomes,
		m.landings,
		m.leader,
		m.bindings,
		m.hitRate,
		m.paused,
		m.breaker,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// SetConfigHash sets the configuration hash that is in effect from the next pass on.
func (m *Metrics) SetConfigHash(hash string) {
	m.info.Reset()
	m.info.WithLabelValues(hash).Set(1)
}

// RecordBinding counts a binding made by a scheduler without a profile. The counts b include this
// binding. predicted reports whether the model predicted a node, and hit reports whether the
// prediction was correct.
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

// RecordPass counts a pass and its outcomes. A pass that ended before planning leaves the plan
// gauges unchanged.
func (m *Metrics) RecordPass(r plan.RunReport) {
	stopped := ""
	if r.Stopped != nil {
		stopped = string(r.Stopped.Code)
	}
	m.passes.WithLabelValues(string(r.Mode), stopped).Inc()
	if r.Recovery == nil { // a recovered pass ran in an earlier process
		m.passSeconds.Observe(r.Finished.Sub(r.Started).Seconds())
	}
	if r.Recovery == nil && !r.EndedBeforePlanning() {
		m.lastPass.Set(float64(r.Finished.Unix()))
	}
	if !r.EndedBeforePlanning() && r.Recovery == nil { // keep the gauges of the last plan
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
