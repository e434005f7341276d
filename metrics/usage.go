package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

// problemKinds are all label values there can be.
var problemKinds = []usage.ProblemKind{usage.Unreachable, usage.BadAnswer, usage.Empty, usage.NotANumber, usage.Implausible, usage.Stale, usage.UnknownNode, usage.Ambiguous, usage.Missing}

// otherProblem is the label of a kind that is not known here.
const otherProblem = "Other"

type usageMetrics struct {
	samples         *prometheus.CounterVec
	seconds         prometheus.Histogram
	lastMeasurement prometheus.Gauge
	coverage        prometheus.Gauge
	problems        *prometheus.CounterVec
}

// UsageRecorder counts what becomes of asking a source of usage, from now on. Where no source
// is configured it is not called, and nothing is shown.
func (m *Metrics) UsageRecorder() monitor.Recorder {
	if m.usage != nil {
		return m.usage
	}
	l := &usageMetrics{
		samples:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_load_samples_total", Help: "Times the source of usage was asked, by result: answered, or failed (no usable answer at all)."}, []string{"result"}),
		seconds:         prometheus.NewHistogram(prometheus.HistogramOpts{Name: "evenkeel_load_sample_duration_seconds", Help: "How long asking the source of usage and taking in its answer took.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 7)}),
		lastMeasurement: prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_load_last_measurement_timestamp_seconds", Help: "When the newest measurement of any node was made; 0 before the first."}),
		coverage:        prometheus.NewGauge(prometheus.GaugeOpts{Name: "evenkeel_load_coverage_ratio", Help: "Share of the nodes whose usage was known when the source was last asked."}),
		problems:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_load_problems_total", Help: "What could not be used of the answers of the source of usage, by kind."}, []string{"kind"}),
	}
	for _, kind := range problemKinds {
		l.problems.WithLabelValues(string(kind))
	}
	l.samples.WithLabelValues("answered")
	l.samples.WithLabelValues("failed")
	m.Registry.MustRegister(l.samples, l.seconds, l.lastMeasurement, l.coverage, l.problems)
	m.usage = l
	return l
}

// RecordAttempt implements monitor.Recorder.
func (l *usageMetrics) RecordAttempt(a monitor.Attempt) {
	result := "answered"
	if a.Failed {
		result = "failed"
	}
	l.samples.WithLabelValues(result).Inc()
	l.seconds.Observe(a.Took.Seconds())
	l.coverage.Set(a.Coverage)
	if !a.SampledAt.IsZero() {
		l.lastMeasurement.Set(float64(a.SampledAt.UnixMilli()) / 1000)
	}
	for _, p := range a.Problems {
		kind := string(p.Kind)
		if !slices.Contains(problemKinds, p.Kind) {
			kind = otherProblem
		}
		l.problems.WithLabelValues(kind).Inc()
	}
}
