package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

// problemKinds lists the known values of the label kind.
var problemKinds = []usage.ProblemKind{
	usage.Unreachable,
	usage.BadAnswer,
	usage.Empty,
	usage.NotANumber,
	usage.Implausible,
	usage.Stale,
	usage.UnknownNode,
	usage.Ambiguous,
	usage.Missing,
}

// otherProblem is the label value for kinds that are not in problemKinds.
const otherProblem = "Other"

type usageMetrics struct {
	samples         *prometheus.CounterVec
	seconds         prometheus.Histogram
	lastMeasurement prometheus.Gauge
	coverage        prometheus.Gauge
	problems        *prometheus.CounterVec
}

// UsageRecorder registers the metrics of the usage source and returns their recorder. If no usage
// source is configured, the caller does not call UsageRecorder and these metrics do not exist.
func (m *Metrics) UsageRecorder() monitor.Recorder {
	if m.usage != nil {
		return m.usage
	}
	l := &usageMetrics{
		samples: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "evenkeel_load_samples_total",
				Help: "Requests to the usage source, by result: answered, or failed (no usable answer).",
			},
			[]string{"result"},
		),
		seconds: prometheus.NewHistogram(
			prometheus.HistogramOpts{
				Name:    "evenkeel_load_sample_duration_seconds",
				Help:    "Time in seconds to query the usage source and read its answer.",
				Buckets: prometheus.ExponentialBuckets(0.01, 4, 7),
			},
		),
		lastMeasurement: prometheus.NewGauge(
			prometheus.GaugeOpts{
				Name: "evenkeel_load_last_measurement_timestamp_seconds",
				Help: "Unix time of the newest measurement of any node; 0 before the first.",
			},
		),
		coverage: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "evenkeel_load_coverage_ratio", Help: "Share of nodes with known usage when the source was last queried."},
		),
		problems: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "evenkeel_load_problems_total", Help: "Problems in answers of the usage source, by kind."},
			[]string{"kind"},
		),
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
