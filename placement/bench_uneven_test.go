package placement_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// newUnevenCluster5000 returns the benchmark cluster of the planner: 5,000 Deployments of 20 pods
// on 5,000 nodes. Each Deployment has its own requests.
func newUnevenCluster5000(b *testing.B, pods int) *cluster.Snapshot {
	b.Helper()
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, pods)))(b)
	return s
}

// BenchmarkPredictUneven measures one prediction after another pod has moved, as in a plan. The
// case "first" predicts each equivalence class for the first time. The case "other class" predicts
// known classes again, thousands of moves later. The case "one class" repeats one class.
func BenchmarkPredictUneven(b *testing.B) {
	s := newUnevenCluster5000(b, 100_000)
	w := placement.NewClusterModel(s, placement.Options{})
	pods := len(s.Pods)
	step := func(i int, p cluster.PodID) {
		w.Cluster.Move(cluster.PodID(i*7919%pods), cluster.NodeID(i*31%len(s.Nodes)))
		w.PredictOdds(p)
	}
	i := 0
	run := func(name string, of func(i int) cluster.PodID) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cputime.Used(b)
			for b.Loop() {
				i++
				step(i, of(i))
			}
			b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
	other := func(i int) cluster.PodID { return cluster.PodID(i * 20011 % pods) }
	run("first", other)
	for k := range 5000 { // predict each class once
		step(k, other(k))
	}
	run("other class", other)
	run("one class", func(int) cluster.PodID { return 20 })
}

// BenchmarkNewWorld150000 measures building and cloning a model with 150,000 pods.
func BenchmarkNewWorld150000(b *testing.B) {
	s := newUnevenCluster5000(b, 150_000)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		before := cputime.Used(b)
		for b.Loop() {
			placement.NewClusterModel(s, placement.Options{})
		}
		b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N), "cpu-ns/op")
	})
	w := placement.NewClusterModel(s, placement.Options{})
	for p := range s.Pods {
		if p%20 == 0 {
			w.PredictOdds(cluster.PodID(p))
		}
	}
	b.Run("clone", func(b *testing.B) {
		b.ReportAllocs()
		before := cputime.Used(b)
		for b.Loop() {
			w.Clone()
		}
		b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N), "cpu-ns/op")
	})
}
