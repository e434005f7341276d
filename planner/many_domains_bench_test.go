package planner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkManyDomains plans at most 20 evictions for workloads that spread over host names, so each node is a domain.
// The time should grow about as the number of nodes does.
func BenchmarkManyDomains(b *testing.B) {
	conf := benchmarkConfig(b, `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies: {constraints: {type: TopologySpread, schedule: "@hourly"}}
limits: {perPass: PASS, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
`, "20")
	for _, nodes := range []int{1250, 2500, 5000} {
		r := rand.New(rand.NewPCG(1, 1))
		o := simulation.Uneven(r, nodes, 4000)
		declared := map[string][]corev1.TopologySpreadConstraint{} // by owner, shared as package observe does
		for _, p := range o.Pods {
			owner := p.Namespace + "/" + p.OwnerReferences[0].Name
			if declared[owner] == nil {
				declared[owner] = []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname, MaxSkew: 1,
					WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
			}
			p.Spec.TopologySpreadConstraints, p.Spec.NodeName = declared[owner], o.Nodes[r.IntN(nodes)].Name
		}
		s := must.Get(cluster.New(o))(b)
		goals := controller.Goals(s, conf.BuildStrategies(), nil)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			var p plan.Plan
			for b.Loop() {
				p = planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
			}
			b.ReportMetric(float64(len(p.Moves)), "moves")
		})
	}
}
