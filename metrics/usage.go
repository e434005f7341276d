package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

var problemKinds = []usage.ProblemKind{usage.Unreachable, usage.BadAnswer, usage.Empty, usage.NotANumber, usage.Implausible,
	usage.Stale, usage.UnknownNode, usage.Ambiguous, usage.Missing}

const (
	otherProblem  = "Other"
	withoutSource = "with `load.source: requests`"
)

var (
	defSamples = definition{name: "evenkeel_usage_samples_total", kind: counter, unit: "requests",
		help: "Requests to the usage source.", labels: []label{{"result", "`answered`, `failed` (no usable answer)"}}, absent: withoutSource}
	defSampleSeconds = definition{name: "evenkeel_usage_sample_duration_seconds", kind: histogram, unit: "seconds",
		help: "Time to query the usage source and read its answer.", buckets: prometheus.ExponentialBuckets(0.01, 4, 7), absent: withoutSource}
	defLastMeasurement = definition{name: "evenkeel_usage_last_measurement_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time of the newest measurement of any node.", absent: withoutSource + "; before the first measurement"}
	defCoverage = definition{name: "evenkeel_usage_coverage_ratio", kind: gauge, unit: "share of 1",
		help: "Share of the nodes in scope (nodeSelector) with known usage when the source was last queried.", absent: withoutSource + "; before the first query"}
	defMinCoverage = definition{name: "evenkeel_usage_min_coverage_ratio", kind: gauge, unit: "share of 1",
		help: "load.minCoverage of the configuration.", absent: withoutSource}
	defMaxAge = definition{name: "evenkeel_usage_max_age_seconds", kind: gauge, unit: "seconds",
		help: "load.maxAge of the configuration.", absent: withoutSource}
	defProblems = definition{name: "evenkeel_usage_problems_total", kind: counter, unit: "problems",
		help: "Problems in answers of the usage source.", labels: []label{{"kind", "[kinds of problems](load.md), or `Other`"}}, absent: withoutSource}
)

type usageMetrics struct {
	samples         *prometheus.CounterVec
	seconds         prometheus.Histogram
	lastMeasurement *gauges
	coverage        *gauges
	minCoverage     *gauges
	maxAge          *gauges
	problems        *prometheus.CounterVec
}

// UsageRecorder registers the metrics of the usage source, with what the configuration requires of it, and returns
// their recorder. Without a usage source, the caller calls RemoveUsage instead, and these metrics do not exist.
func (m *Metrics) UsageRecorder(required cluster.UsageRequirements) monitor.Recorder {
	if m.usage == nil {
		m.registerUsage()
	}
	m.usage.minCoverage.set(required.MinCoverage)
	m.usage.maxAge.set(required.MaxAge.Seconds())
	return m.usage
}

func (m *Metrics) registerUsage() {
	r := m.Registry
	m.usage = &usageMetrics{samples: defSamples.newCounters(r), seconds: defSampleSeconds.newHistogram(r),
		lastMeasurement: defLastMeasurement.newGauges(r), coverage: defCoverage.newGauges(r), minCoverage: defMinCoverage.newGauges(r),
		maxAge: defMaxAge.newGauges(r), problems: defProblems.newCounters(r)}
	for _, kind := range problemKinds {
		m.usage.problems.WithLabelValues(string(kind))
	}
	m.usage.samples.WithLabelValues("answered")
	m.usage.samples.WithLabelValues("failed")
}

// RemoveUsage removes the metrics of the usage source. What their recorder still records has no effect.
func (m *Metrics) RemoveUsage() {
	if l := m.usage; l != nil {
		for _, c := range []prometheus.Collector{l.samples, l.seconds, l.lastMeasurement.vec, l.coverage.vec, l.minCoverage.vec, l.maxAge.vec,
			l.problems} {
			m.Registry.Unregister(c)
		}
		m.usage = nil
	}
}

// RecordAttempt implements monitor.Recorder.
func (l *usageMetrics) RecordAttempt(a monitor.Attempt) {
	result := "answered"
	if a.Failed {
		result = "failed"
	}
	l.samples.WithLabelValues(result).Inc()
	l.seconds.Observe(a.Took.Seconds())
	l.coverage.set(a.Coverage)
	if !a.SampledAt.IsZero() {
		l.lastMeasurement.set(seconds(a.SampledAt))
	}
	for _, p := range a.Problems {
		kind := string(p.Kind)
		if !slices.Contains(problemKinds, p.Kind) {
			kind = otherProblem
		}
		l.problems.WithLabelValues(kind).Inc()
	}
}
