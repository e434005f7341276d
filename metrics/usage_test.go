package metrics_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

func TestSamplesAreCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	if n, err := testutil.GatherAndCount(m.Registry, "evenkeel_usage_samples_total"); err != nil || n != 0 {
		t.Errorf("got %d series without a source, error %v", n, err)
	}
	at := time.UnixMilli(1_000_500)
	m.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9}).
		RecordAttempt(monitor.Attempt{Took: time.Second, Coverage: 0.75, SampledAt: at,
			Problems: []usage.Problem{{Kind: usage.Missing, Detail: "n1"}, {Kind: usage.Missing, Detail: "n2"}}})
	m.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9}).
		RecordAttempt(monitor.Attempt{Failed: true, Took: time.Second, Coverage: 0.5, SampledAt: at,
			Problems: []usage.Problem{{Kind: usage.Unreachable}, {Kind: "of node n1"}}})
	compare(t, m, `
evenkeel_usage_coverage_ratio 0.5

evenkeel_usage_last_measurement_timestamp_seconds 1000.5

evenkeel_usage_problems_total{kind="Ambiguous"} 0
evenkeel_usage_problems_total{kind="BadAnswer"} 0
evenkeel_usage_problems_total{kind="Empty"} 0
evenkeel_usage_problems_total{kind="Implausible"} 0
evenkeel_usage_problems_total{kind="Missing"} 2
evenkeel_usage_problems_total{kind="NotANumber"} 0
evenkeel_usage_problems_total{kind="Other"} 1
evenkeel_usage_problems_total{kind="Stale"} 0
evenkeel_usage_problems_total{kind="UnknownNode"} 0
evenkeel_usage_problems_total{kind="Unreachable"} 1

evenkeel_usage_samples_total{result="answered"} 1
evenkeel_usage_samples_total{result="failed"} 1
`)
}

// TestAConfigurationWithoutASourceHasNoUsageMetrics checks that the metrics vanish with the usage source, also if a
// query is answered later, and that they come back with the next source.
func TestAConfigurationWithoutASourceHasNoUsageMetrics(t *testing.T) {
	m := metrics.New("v1", "abc")
	names := []string{"evenkeel_usage_samples_total", "evenkeel_usage_sample_duration_seconds", "evenkeel_usage_coverage_ratio",
		"evenkeel_usage_last_measurement_timestamp_seconds", "evenkeel_usage_problems_total"}
	m.RemoveUsage()
	before := m.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9})
	before.RecordAttempt(monitor.Attempt{Coverage: 0.5, SampledAt: time.Unix(1000, 0)})
	m.RemoveUsage()
	before.RecordAttempt(monitor.Attempt{Coverage: 0.5, SampledAt: time.Unix(1000, 0)})
	if n, err := testutil.GatherAndCount(m.Registry, names...); err != nil || n != 0 {
		t.Errorf("%d series without a source, error %v", n, err)
	}
	m.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9}).RecordAttempt(monitor.Attempt{Coverage: 1})
	compare(t, m, "evenkeel_usage_coverage_ratio 1")
}
