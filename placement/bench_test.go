package placement

import (
	"fmt"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newCluster500 builds 500 nodes in 3 zones with 500 apps of 20 pods. A quarter of the apps has a
// hard zone spread, and some have anti-affinity on the host name.
func newCluster500() *snapshotBuilder {
	b := newSnapshotBuilder()
	for i := range 500 {
		b.node(fmt.Sprintf("n%03d", i), fmt.Sprintf("z%d", i%3))
	}
	at := uint32(7)
	for a := range 500 {
		name := fmt.Sprintf("d%03d", a)
		var nodes []string
		for range 20 {
			at = at*1664525 + 1013904223
			nodes = append(nodes, fmt.Sprintf("n%03d", at>>8%500))
		}
		sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		b.app(name, int64(100+a%5*50), func(s *corev1.PodSpec) {
			switch a % 8 {
			case 0, 4:
				s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
					WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: sel}}
			case 1:
				s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100,
						PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: sel}}}}}
			}
		}, nodes...)
		b.service(name)
	}
	return b
}

func BenchmarkNewWorld(b *testing.B) {
	snap := newCluster500().model(b).Cluster.Snap
	for b.Loop() {
		NewClusterModel(snap, Options{})
	}
}

// BenchmarkPredict measures one prediction and one move on 500 nodes with 10,000 pods. The
// benchmark includes building each equivalence class on first use.
func BenchmarkPredict(b *testing.B) {
	w := newCluster500().model(b)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		p := cluster.PodID(i * 7919 % len(w.Cluster.Snap.Pods))
		pr := w.Predict(p)
		if to := pr.LikeliestOf(anyNode); to != cluster.NoNode {
			w.Cluster.Move(p, to)
		}
		i++
	}
}
