package load

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// interval is how often the program samples.
const interval = 10 * time.Second

// source is where the program learns of usage.
type source struct {
	name string
	// config is the section load, in YAML.
	config func() string
	// cpu asks the source itself what nodes use, in cores.
	cpu func(context.Context) (map[string]float64, error)
}

// kubeletCPU is what the nodes use by the counters that Prometheus scraped.
const kubeletCPU = `max by (instance) (rate(node_cpu_usage_seconds_total[20s]))`

// sources are all that the scenarios run with.
func sources() []source {
	return []source{
		{"metricsServer", func() string {
			return fmt.Sprintf("load: {source: metricsServer, interval: %s, statistic: latest, window: 1m, maxAge: 1m}\n", interval)
		}, func(ctx context.Context) (map[string]float64, error) { return bed.MeasuredCPU(ctx) }},
		{"prometheus", func() string {
			return fmt.Sprintf("load: {source: prometheus, interval: %s, statistic: latest, window: 1m, maxAge: 1m, prometheus: {url: %q, preset: kubelet, rateWindow: 20s}}\n", interval, bed.Prometheus)
		}, func(ctx context.Context) (map[string]float64, error) { return bed.Query(ctx, kubeletCPU) }},
	}
}

// withEach runs a scenario with each source, one after the other.
func withEach(t *testing.T, do func(*testing.T, source)) {
	t.Helper()
	for _, s := range sources() {
		t.Run(s.name, func(t *testing.T) { do(t, s) })
	}
}

// patience is for what the source has to measure first: two scrapes of 10 s each, and
// a slow machine.
const patience = 4 * time.Minute

// awaitCPU waits until the source says that each node uses so many cores, give or take
// a tenth of a core and a fiftieth.
func (s source) awaitCPU(t *testing.T, want map[string]float64) {
	t.Helper()
	s.awaitSteadyCPU(t, want, 0)
}

// awaitSteadyCPU waits until it has said so for a while.
func (s source) awaitSteadyCPU(t *testing.T, want map[string]float64, steady time.Duration) {
	t.Helper()
	var last map[string]float64
	var since time.Time
	said := func() string { return fmt.Sprintf("%s says that nodes use %v", s.name, want) }
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: last %v", said(), last)
		}
	})
	poll(t, said(), func() (bool, error) {
		got, err := s.cpu(t.Context())
		if err != nil {
			return false, err
		}
		last = got
		for node, cores := range want {
			if v, known := got[node]; !known || math.Abs(v-cores) > 0.1+cores/50 {
				since = time.Time{}
				return false, nil
			}
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) >= steady, nil
	})
}

// awaitPods waits until the source has measured so many pods of a namespace: one that
// was not measured stays.
func (s source) awaitPods(t *testing.T, ns string, want int) {
	t.Helper()
	poll(t, fmt.Sprintf("%s has measured %d pods of %s", s.name, want, ns), func() (bool, error) {
		if s.name == "metricsServer" {
			got, err := bed.MeasuredPods(t.Context(), ns)
			return got == want, err
		}
		got, err := bed.Query(t.Context(), fmt.Sprintf(`count(rate(pod_cpu_usage_seconds_total{namespace=%q}[20s]))`, ns))
		return got[""] == float64(want), err
	})
}

// kubeName makes a name of a test's.
func kubeName(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-", "#", "-").Replace(t.Name()))
}
