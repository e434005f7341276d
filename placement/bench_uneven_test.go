package placement_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// uneven5000 is the planner's benchmark cluster: 5,000 Deployments of 20 pods, each
// with requests of its own, on 5,000 nodes.
func uneven5000(b *testing.B, pods int) *cluster.Snapshot {
	b.Helper()
	s, err := cluster.New(simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, pods))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkPredictUneven is one prediction after another pod has moved, as a plan
// makes them: each of another class, whose last one was thousands of moves ago
// (every class: first, when classes are built too, and again), and of one class.
func BenchmarkPredictUneven(b *testing.B) {
	s := uneven5000(b, 100_000)
	m := placement.NewClusterModel(s, placement.Options{})
	pods := len(s.Pods)
	step := func(i int, p cluster.PodID) {
		m.Move(cluster.PodID(i*7919%pods), cluster.NodeID(i*31%len(s.Nodes)))
		m.PredictOdds(p)
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
	for k := range 5000 { // each class has been asked about
		step(k, other(k))
	}
	run("other class", other)
	run("one class", func(int) cluster.PodID { return 20 })
}

// BenchmarkNewWorld150000 makes a world of 150,000 pods, and a copy of it.
func BenchmarkNewWorld150000(b *testing.B) {
	s := uneven5000(b, 150_000)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		before := cputime.Used(b)
		for b.Loop() {
			placement.NewClusterModel(s, placement.Options{})
		}
		b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N), "cpu-ns/op")
	})
	m := placement.NewClusterModel(s, placement.Options{})
	for p := range s.Pods {
		if p%20 == 0 {
			m.PredictOdds(cluster.PodID(p))
		}
	}
	b.Run("clone", func(b *testing.B) {
		b.ReportAllocs()
		before := cputime.Used(b)
		for b.Loop() {
			m.Clone()
		}
		b.ReportMetric(float64(cputime.Used(b)-before)/float64(b.N), "cpu-ns/op")
	})
}
