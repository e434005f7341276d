package load

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// interval is the sample period of the program.
const interval = 10 * time.Second

// source is a source of resource usage.
type source struct {
	name string
	// config returns the load section of the configuration.
	config func() string
	// cpu returns the CPU usage of nodes in cores, directly from the source.
	cpu func(context.Context) (map[string]float64, error)
}

// kubeletCPU queries the CPU usage of nodes from the counters that Prometheus scraped.
const kubeletCPU = `max by (instance) (rate(node_cpu_usage_seconds_total[20s]))`

// sources returns the usage sources under test.
func sources() []source {
	return []source{
		{"metricsServer", func() string {
			return fmt.Sprintf("load: {source: metricsServer, interval: %s, statistic: latest, window: 1m, maxAge: 1m}\n", interval)
		}, func(ctx context.Context) (map[string]float64, error) { return stack.MeasuredCPU(ctx) }},
		{"prometheus", func() string {
			return fmt.Sprintf("load: {source: prometheus, interval: %s, statistic: latest, window: 1m, maxAge: 1m,"+
				" prometheus: {url: %q, preset: kubelet, rateWindow: 20s}}\n", interval, stack.Prometheus)
		}, func(ctx context.Context) (map[string]float64, error) { return stack.Query(ctx, kubeletCPU) }},
	}
}

// forEachSource runs a scenario with each source in turn.
func forEachSource(t *testing.T, do func(*testing.T, source)) {
	t.Helper()
	for _, s := range sources() {
		t.Run(s.name, func(t *testing.T) { do(t, s) })
	}
}

// timeout limits the time until the source shows a change: two scrapes of 10 s on a slow machine.
const timeout = 4 * time.Minute

// waitForCPU waits until the source shows the wanted cores for each node, with a tolerance of 0.1 cores plus 2 %.
func (s source) waitForCPU(t *testing.T, want map[string]float64) {
	t.Helper()
	s.waitForSteadyCPU(t, want, 0)
}

// waitForSteadyCPU waits until the source has shown the wanted cores for some time.
func (s source) waitForSteadyCPU(t *testing.T, want map[string]float64, steady time.Duration) {
	t.Helper()
	var last map[string]float64
	var since time.Time
	said := func() string { return fmt.Sprintf("%s shows this usage by node: %v", s.name, want) }
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: last %v", said(), last)
		}
	})
	pollUntil(t, said(), func() (bool, error) {
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

// waitForPods waits until the source has measured the given number of pods in a namespace. waitForPods matters because
// the program does not evict pods without metrics.
func (s source) waitForPods(t *testing.T, ns string, want int) {
	t.Helper()
	pollUntil(t, fmt.Sprintf("%s has measured %d pods of %s", s.name, want, ns), func() (bool, error) {
		if s.name == "metricsServer" {
			got, err := stack.MeasuredPods(t.Context(), ns)
			return got == want, err
		}
		got, err := stack.Query(t.Context(), fmt.Sprintf(`count(rate(pod_cpu_usage_seconds_total{namespace=%q}[20s]))`, ns))
		return got[""] == float64(want), err
	})
}

// namespaceName turns a test's name into a valid namespace name.
func namespaceName(t *testing.T) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-", "#", "-").Replace(t.Name()))
}
