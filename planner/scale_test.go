package planner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const bothStrategies = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  hot-nodes: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
limits: {perPass: PASS, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// BenchmarkPlanScale plans for clusters of several sizes, with at most 500 evictions and without a limit. Nodes of the
// mixed clusters have five sizes. BenchmarkPlanScale reports the CPU time, the number of moves, the number of waves and
// the lower bound.
func BenchmarkPlanScale(b *testing.B) {
	for _, c := range []struct {
		nodes, pods int
		shape       string
		objects     func(r *rand.Rand, nodes, pods int) *cluster.Objects
		target      string
	}{
		{500, 10_000, "", simulation.Uneven, "0.5"},
		{1000, 20_000, "", simulation.Uneven, "0.5"},
		{2000, 40_000, "", simulation.Uneven, "0.5"},
		{5000, 100_000, "", simulation.Uneven, "0.5"},
		{15_000, 300_000, "", simulation.Uneven, "0.5"},
		{5000, 150_000, "", simulation.Uneven, "0.5"},
		{500, 10_000, "/mixed", simulation.FiveSizes, "0.65"},
		{5000, 100_000, "/mixed", simulation.FiveSizes, "0.65"},
	} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d%s", c.nodes, c.pods, c.shape), func(b *testing.B) {
			s := must.Get(cluster.New(c.objects(rand.New(rand.NewPCG(1, 1)), c.nodes, c.pods)))(b)
			for _, pass := range []string{"500", "unlimited"} {
				benchmarkPlans(b, s, strings.ReplaceAll(bothStrategies, "0.5", c.target), pass)
			}
		})
	}
}

func benchmarkPlans(b *testing.B, s *cluster.Snapshot, text, pass string) {
	conf := benchmarkConfig(b, text, pass)
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	b.Run("pass="+pass, func(b *testing.B) {
		var p plan.Plan
		b.ReportAllocs()
		begun := cputime.Used(b)
		for b.Loop() {
			p = planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		}
		b.ReportMetric(float64((cputime.Used(b)-begun).Nanoseconds())/float64(b.N), "cpu-ns/op")
		waves := 0
		for _, m := range p.Moves {
			waves = max(waves, m.Wave)
		}
		b.ReportMetric(float64(len(p.Moves)), "moves")
		b.ReportMetric(float64(waves), "waves")
		b.ReportMetric(float64(p.Bound.MinForPlan), "bound")
	})
}

// benchmarkConfig returns the configuration in text with at most pass evictions.
func benchmarkConfig(b *testing.B, text, pass string) *config.Config {
	b.Helper()
	conf := must.Get(config.Load("c", []byte(strings.Replace(text, "PASS", pass, 1))))(b)
	return conf
}
