package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

func TestSamplesAreCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	if n, err := testutil.GatherAndCount(m.Registry, "evenkeel_load_samples_total"); err != nil || n != 0 {
		t.Errorf("got %d series without a source, error %v", n, err)
	}
	at := time.UnixMilli(1_000_500)
	m.UsageRecorder().
		RecordAttempt(monitor.Attempt{Took: time.Second, Coverage: 0.75, SampledAt: at,
			Problems: []usage.Problem{{Kind: usage.Missing, Detail: "n1"}, {Kind: usage.Missing, Detail: "n2"}}})
	m.UsageRecorder().
		RecordAttempt(monitor.Attempt{Failed: true, Took: time.Second, Coverage: 0.5, SampledAt: at,
			Problems: []usage.Problem{{Kind: usage.Unreachable}, {Kind: "of node n1"}}})
	want := `
# HELP evenkeel_load_coverage_ratio Share of nodes with known usage when the source was last queried.
# TYPE evenkeel_load_coverage_ratio gauge
evenkeel_load_coverage_ratio 0.5
# HELP evenkeel_load_last_measurement_timestamp_seconds Unix time of the newest measurement of any node; 0 before the first.
# TYPE evenkeel_load_last_measurement_timestamp_seconds gauge
evenkeel_load_last_measurement_timestamp_seconds 1000.5
# HELP evenkeel_load_problems_total Problems in answers of the usage source, by kind.
# TYPE evenkeel_load_problems_total counter
evenkeel_load_problems_total{kind="Ambiguous"} 0
evenkeel_load_problems_total{kind="BadAnswer"} 0
evenkeel_load_problems_total{kind="Empty"} 0
evenkeel_load_problems_total{kind="Implausible"} 0
evenkeel_load_problems_total{kind="Missing"} 2
evenkeel_load_problems_total{kind="NotANumber"} 0
evenkeel_load_problems_total{kind="Other"} 1
evenkeel_load_problems_total{kind="Stale"} 0
evenkeel_load_problems_total{kind="UnknownNode"} 0
evenkeel_load_problems_total{kind="Unreachable"} 1
# HELP evenkeel_load_samples_total Requests to the usage source, by result: answered, or failed (no usable answer).
# TYPE evenkeel_load_samples_total counter
evenkeel_load_samples_total{result="answered"} 1
evenkeel_load_samples_total{result="failed"} 1
`
	if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(want), "evenkeel_load_coverage_ratio",
		"evenkeel_load_last_measurement_timestamp_seconds", "evenkeel_load_problems_total", "evenkeel_load_samples_total"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(m.Registry)
	if err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}
