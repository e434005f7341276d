package placement

import (
	"fmt"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newCluster5000 builds 5,000 nodes in 3 zones with 2,500 apps of 40 pods. Most apps use the
// default spread. One in eight has a hard zone spread, and one in eight soft anti-affinity on the
// host name. One node in fifty has a taint.
func newCluster5000() *snapshotBuilder {
	b := newSnapshotBuilder()
	for i := range 5000 {
		b.node(fmt.Sprintf("n%04d", i), fmt.Sprintf("z%d", i%3), func(n *corev1.Node) {
			n.Status.Images = []corev1.ContainerImage{{Names: []string{fmt.Sprintf("registry.example/d%04d:1", i%2500)}, SizeBytes: 200 << 20}}
			if i%50 == 0 {
				n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
		})
	}
	at := uint32(7)
	for a := range 2500 {
		name := fmt.Sprintf("d%04d", a)
		nodes := make([]string, 40)
		for i := range nodes {
			at = at*1664525 + 1013904223
			nodes[i] = fmt.Sprintf("n%04d", at>>8%5000)
		}
		sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		b.app(name, int64(100+a%5*50), func(s *corev1.PodSpec) {
			switch a % 8 {
			case 0:
				s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 5, TopologyKey: zoneKey,
					WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: sel}}
			case 1:
				s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100,
						PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: sel}}}}}
			}
		}, nodes...)
	}
	return b
}

// BenchmarkPredict5000 measures one prediction (both states, all starts) on 5,000 nodes with
// 100,000 pods. The benchmark first predicts each equivalence class once. The benchmark moves
// another pod before each prediction.
func BenchmarkPredict5000(b *testing.B) {
	w := newCluster5000().model(b)
	for _, c := range []struct {
		name string
		app  int
	}{{"default spread", 2}, {"hard spread", 8}, {"soft anti-affinity", 1}} {
		b.Run(c.name, func(b *testing.B) {
			p := podID(b, w, fmt.Sprintf("d%04d-0", c.app))
			if got := len(w.Predict(p).Gone.Feasible); got < 1000 {
				b.Fatalf("%d nodes are feasible", got)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				other := cluster.PodID(i * 7919 % len(w.Cluster.Snap.Pods))
				w.Cluster.Move(other, cluster.NodeID(i%len(w.Cluster.Snap.Nodes)))
				w.PredictOdds(p)
			}
		})
	}
}
