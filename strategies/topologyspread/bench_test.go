package topologyspread_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/duplicates"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkGoals measures the goals of TopologySpread and Duplicates on clusters of two sizes. Every pod declares two
// constraints.
func BenchmarkGoals(b *testing.B) {
	for _, size := range [][2]int{{500, 10_000}, {5000, 100_000}} {
		o := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), size[0], size[1])
		declared := map[string][]corev1.TopologySpreadConstraint{} // by owner, shared as package observe does
		for _, p := range o.Pods {
			owner := p.Namespace + "/" + p.OwnerReferences[0].Name
			for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
				if len(declared[owner]) < 2 {
					declared[owner] = append(declared[owner], corev1.TopologySpreadConstraint{
						TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, MatchLabelKeys: []string{"app"},
						LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
					})
				}
			}
			p.Spec.TopologySpreadConstraints = declared[owner]
		}
		s := must.Get(cluster.New(o))(b)
		spread, errs := topologyspread.New("constraints", nil, cluster.Scope{})
		copies, more := duplicates.New("duplicates", nil, cluster.Scope{})
		if len(errs)+len(more) > 0 {
			b.Fatal(errs, more)
		}
		for _, c := range []struct {
			strategy string
			goals    func(*cluster.Snapshot) []plan.Goal
		}{{"TopologySpread", spread.Goals}, {"Duplicates", copies.Goals}} {
			b.Run(fmt.Sprintf("nodes=%d/pods=%d/strategy=%s", size[0], size[1], c.strategy), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.ReportMetric(float64(len(c.goals(s))), "goals")
				}
			})
		}
	}
}
