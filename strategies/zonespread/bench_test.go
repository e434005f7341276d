package zonespread_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkGoals measures the goals of ZoneSpread and NodeLoad on clusters of two sizes.
func BenchmarkGoals(b *testing.B) {
	for _, size := range [][2]int{{500, 10_000}, {5000, 150_000}} {
		s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(1, 1)), size[0], size[1])))(b)
		zones, errs := zonespread.New("zones", nil, cluster.Scope{})
		load, more := nodeload.New("hot", []byte(`{"target": {"cpu": 0.5, "memory": 0.5}}`), cluster.Scope{})
		if len(errs)+len(more) > 0 {
			b.Fatal(errs, more)
		}
		b.Run(fmt.Sprintf("nodes=%d/pods=%d/strategy=ZoneSpread", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(zones.Goals(s))), "goals")
			}
		})
		b.Run(fmt.Sprintf("nodes=%d/pods=%d/strategy=NodeLoad", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(load.Goals(s))), "goals")
			}
		})
	}
}
