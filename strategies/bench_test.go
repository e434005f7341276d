package strategies_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkGoalsOfNodes measures NodeAffinity and NodeTaints on 5,000 nodes and 100,000 pods. In the worst case, every
// pod violates its preference, and 200 different affinities occur.
func BenchmarkGoalsOfNodes(b *testing.B) {
	for _, worst := range []bool{false, true} {
		s := must.Get(cluster.New(constrainedCluster(worst)))(b)
		for _, c := range []struct{ typ, args string }{
			{"NodeAffinity", `{}`}, {"NodeAffinity", `{"preferred":true}`}, {"NodeTaints", `{}`}, {"NodeTaints", `{"preferNoSchedule":true}`},
		} {
			st, errs := strategies.New("x", c.typ, []byte(c.args), cluster.Scope{})
			if len(errs) > 0 {
				b.Fatal(errs)
			}
			b.Run(fmt.Sprintf("worst=%v/strategy=%s/args=%s", worst, c.typ, c.args), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.ReportMetric(float64(len(st.Goals(s))), "goals")
				}
			})
		}
	}
}

// constrainedCluster returns a cluster in which every pod has node constraints. In the worst case all pods prefer nodes
// with other labels and without taints.
func constrainedCluster(worst bool) *cluster.Objects {
	r := rand.New(rand.NewPCG(1, 1))
	o := simulation.Uneven(r, 5000, 100_000)
	for i, n := range o.Nodes {
		n.Labels["pool"], n.Labels["disk"] = fmt.Sprint("p", i%10), fmt.Sprint("d", i%200)
		if i%100 == 0 || worst && i%10 != 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule}}
		}
		if i%500 == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
		}
	}
	affinities := map[string]*corev1.Affinity{}
	for i, p := range o.Pods {
		c := metav1.GetControllerOf(p).Name
		if affinities[c] == nil {
			affinities[c] = affinity(len(affinities), worst)
		}
		if p.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}; i%1000 == 0 {
			p.Spec.NodeSelector = map[string]string{"pool": "gone"}
		}
		p.Spec.Affinity = affinities[c] // shared, as the observer does
		p.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}, {Key: "b", Operator: corev1.TolerationOpExists}}
	}
	for _, n := range o.Nodes {
		n.Labels["kubernetes.io/os"] = "linux"
	}
	return o
}

// affinity returns the affinity of the i-th workload.
func affinity(i int, worst bool) *corev1.Affinity {
	distinct := 5
	if worst {
		distinct = 200
	}
	in := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			in("kubernetes.io/os", "linux", "windows")}},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 50, Preference: in("disk", fmt.Sprint("d", i%distinct))}, {Weight: 10, Preference: in("pool", fmt.Sprint("p", i%10))}},
	}}
}
