package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TestQuickSeesDomainsWhoseNodesAllHoldPods uses a small zone in which every node has a pod of the
// Deployment. Only some sample windows contain nodes of this zone. The weight of a constraint
// depends on the number of domains in the window.
func TestQuickSeesDomainsWhoseNodesAllHoldPods(t *testing.T) {
	asked := 0
	for seed := range uint64(40) {
		w := newSmallZoneModel(t, rand.New(rand.NewPCG(seed, 1)))
		for i := range w.Cluster.Snap.Pods {
			p := &w.Cluster.Snap.Pods[i]
			var only prediction.Prediction
			if p.Object.Labels["app"] != "a" || i%4 != 0 || !w.predictFast(w.replacementOf(p.ID), p.ID, &only) {
				continue
			}
			asked++
			got := w.Predict(p.ID)
			w.disableFast = true
			want := w.Predict(p.ID)
			w.disableFast = false
			for _, n := range want.Possible() {
				if d := got.Prob(equalsNode(n)) - want.Prob(equalsNode(n)); d > 1e-9 || d < -1e-9 {
					t.Fatalf("seed %d: pod %s lands on %s with probability %v, want %v", seed,
						p.Object.Name, w.Cluster.Snap.Nodes[n].Name, got.Prob(equalsNode(n)), want.Prob(equalsNode(n)))
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("the fast prediction supports %d pods, want at least 100", asked)
	}
}

func equalsNode(n cluster.NodeID) func(cluster.NodeID) bool {
	return func(x cluster.NodeID) bool { return x == n }
}

// newSmallZoneModel builds 300 nodes in three zones. The third zone has six nodes, each with a pod
// of the app.
func newSmallZoneModel(t *testing.T, r *rand.Rand) *ClusterModel {
	b := newSnapshotBuilder()
	base, at := [2]int{r.IntN(40), r.IntN(40)}, []string(nil)
	for i := range 300 {
		zone, name := fmt.Sprint("z", i%2), fmt.Sprintf("n%04d", i)
		if i < 6 {
			zone, at = "z2", append(at, name)
		}
		b.node(name, zone, func(n *corev1.Node) { n.Status.Allocatable["pods"] = resource.MustParse("110") })
		b.app(fmt.Sprint("fill", i), int64((base[i%2]+r.IntN(20))*100), nil, name)
	}
	for range 10 + r.IntN(60) {
		at = append(at, fmt.Sprintf("n%04d", 6+r.IntN(294)))
	}
	b.app("a", 100, func(s *corev1.PodSpec) {
		for _, key := range []string{zoneKey, hostKey} {
			s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{MaxSkew: 3, TopologyKey: key,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, WhenUnsatisfiable: corev1.ScheduleAnyway})
		}
	}, at...)
	return b.modelWithProfile(t, scheduler.DefaultProfile())
}
