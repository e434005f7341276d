package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

var problemKinds = []usage.ProblemKind{usage.Unreachable, usage.BadAnswer, usage.Empty, usage.NotANumber, usage.Implausible,
	usage.Stale, usage.UnknownNode, usage.Ambiguous, usage.Missing}

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
	r := m.Registry
	m.usage = &usageMetrics{
		samples: newCounters(r, "evenkeel_load_samples_total",
			"Requests to the usage source, by result: answered, or failed (no usable answer).",
			"result"),
		seconds: newHistogram(r, "evenkeel_load_sample_duration_seconds",
			"Time in seconds to query the usage source and read its answer.", 7),
		lastMeasurement: newGauge(r, "evenkeel_load_last_measurement_timestamp_seconds",
			"Unix time of the newest measurement of any node; 0 before the first."),
		coverage: newGauge(r, "evenkeel_load_coverage_ratio",
			"Share of nodes with known usage when the source was last queried."),
		problems: newCounters(r, "evenkeel_load_problems_total",
			"Problems in answers of the usage source, by kind.", "kind"),
	}
	for _, kind := range problemKinds {
		m.usage.problems.WithLabelValues(string(kind))
	}
	m.usage.samples.WithLabelValues("answered")
	m.usage.samples.WithLabelValues("failed")
	return m.usage
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
