package planner_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// otherStrategies are the strategies that bothStrategies lacks.
const otherStrategies = `  constraints: {type: TopologySpread, schedule: "@hourly"}
  duplicates: {type: Duplicates, schedule: "@hourly"}
  apart: {type: InterPodAntiAffinity, schedule: "@hourly"}
  empty: {type: NodeConsolidation, schedule: "@hourly", args: {below: {cpu: 0.3, memory: 0.3}}}
  crashing: {type: Restarts, schedule: "@hourly", args: {minRestarts: 100}}
  old: {type: Lifetime, schedule: "@hourly", args: {maxAge: 168h}}
  failed: {type: FailedPods, schedule: "@hourly"}
  affinity: {type: NodeAffinity, schedule: "@hourly", args: {preferred: true}}
  taints: {type: NodeTaints, schedule: "@hourly", args: {preferNoSchedule: true}}
`

// BenchmarkAllStrategies plans with ZoneSpread and NodeLoad, and with all strategies, at most 500 evictions on the same
// cluster of 5,000 nodes and 100,000 pods. The time includes the goals. With all strategies, it should be at most 1.5
// times as long.
func BenchmarkAllStrategies(b *testing.B) {
	benchmarkRatio(b, diverseCluster(5000, 100_000), otherStrategies)
}

// benchmarkRatio plans with ZoneSpread and NodeLoad, and with further strategies. It alternates
// between both and compares the shortest times, because other programs slow down some of the plans.
func benchmarkRatio(b *testing.B, o *cluster.Objects, more string) {
	s := must.Get(cluster.New(o))(b)
	var shortest [2]time.Duration
	confs := []*config.Config{benchmarkConfig(b, bothStrategies, "500"), benchmarkConfig(b, withStrategies(more), "500")}
	for b.Loop() {
		for i, conf := range confs {
			runtime.GC()
			begun := time.Now()
			goals := controller.Goals(s, conf.BuildStrategies(), nil)
			p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
			if took := time.Since(begun); shortest[i] == 0 || took < shortest[i] {
				shortest[i] = took
			}
			name := []string{"two", "more"}[i]
			b.ReportMetric(float64(len(goals)), name+"-goals")
			b.ReportMetric(float64(len(p.Moves)), name+"-moves")
			b.ReportMetric(shortest[i].Seconds(), name+"-s")
		}
	}
	b.ReportMetric(float64(shortest[1])/float64(shortest[0]), "ratio")
}

// BenchmarkGoalsOfStrategies measures the goals of each strategy on the same cluster.
func BenchmarkGoalsOfStrategies(b *testing.B) {
	s := must.Get(cluster.New(diverseCluster(5000, 100_000)))(b)
	conf := benchmarkConfig(b, withStrategies(otherStrategies), "500")
	for _, st := range conf.BuildStrategies() {
		b.Run("strategy="+st.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(st.Goals(s))), "goals")
			}
		})
	}
}

// BenchmarkManyPodGoals plans with 20,000 goals about single pods: a fifth of the pods is too old.
func BenchmarkManyPodGoals(b *testing.B) {
	o := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, 100_000)
	for i, p := range o.Pods {
		if p.CreationTimestamp = metav1.NewTime(o.TakenAt.Add(-time.Hour)); i%5 == 0 {
			p.CreationTimestamp = metav1.NewTime(o.TakenAt.Add(-30 * 24 * time.Hour).Add(time.Duration(i) * time.Second))
		}
	}
	benchmarkRatio(b, o, "  old: {type: Lifetime, schedule: \"@hourly\", args: {maxAge: 168h}}\n")
}

func diverseCluster(nodes, pods int) *cluster.Objects {
	r := rand.New(rand.NewPCG(1, 1))
	o := simulation.Uneven(r, nodes, pods)
	simulation.Diverse(r, o)
	return o
}

func withStrategies(more string) string {
	return strings.Replace(bothStrategies, "limits:", more+"limits:", 1)
}
