package main

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestCommits compares two outputs of benchmarks: the ratios, and the exponent of growth over two sizes.
func TestCommits(t *testing.T) {
	results := map[string][2]benchmarkResult{}
	var names []string
	for _, run := range []struct {
		commit int
		text   string
	}{
		{0, "goos: linux\nBenchmarkPlanScale/nodes=500/pods=10000/pass=500-2 \t 1\t100 ns/op\t 1000000000 cpu-ns/op\t 500 moves\t 64 B/op\n" +
			"BenchmarkPlanScale/nodes=5000/pods=100000/pass=500-2 \t 1\t100 ns/op\t 100000000000 cpu-ns/op\nPASS\n"},
		{1, "BenchmarkPlanScale/nodes=500/pods=10000/pass=500-2 \t 1\t100 ns/op\t 900000000 cpu-ns/op\t 490 moves\t 16 B/op\n" +
			"BenchmarkPlanScale/nodes=5000/pods=100000/pass=500-2 \t 1\t50 ns/op\t 5000000000 cpu-ns/op\n"},
		{1, "BenchmarkPlanScale/nodes=500/pods=10000/pass=500-2 \t 1\t300 ns/op\t 100000000 cpu-ns/op\t 490 moves\t 16 B/op\n"},
	} {
		names = addBenchmarks(results, names, run.commit, run.text)
	}
	var b strings.Builder
	must.Succeed(t, printCommits(&b, names, results))
	for _, want := range []string{"| PlanScale/nodes=500/pods=10000/pass=500 | 1 | 0.50 | 0.50 | 2 | 0.25 | 500 | 490 | 2 |\n",
		"| PlanScale/nodes=5000/pods=100000/pass=500 | 100 | 5 | 0.0500 | 0.50 | - | - | - | 1 |\n",
		"| PlanScale/20 pods per node/pass=500 | 2 | 2.00 | 1.00 |\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
