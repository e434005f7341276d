package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TestDomainsWhoseNodesAllHoldPods uses a small zone in which every node has a pod of the
// Deployment. Only some sample windows contain nodes of this zone. The weight of a constraint
// depends on the number of domains in the window.
func TestDomainsWhoseNodesAllHoldPods(t *testing.T) {
	sampled := 0
	for seed := range uint64(20) {
		w := newSmallZoneModel(t, rand.New(rand.NewPCG(seed, 1)))
		for i := range 2 {
			sampled += compareWithReference(t, w, podID(t, w, fmt.Sprint("a-", 4*i)))
		}
	}
	if sampled < 60 {
		t.Errorf("%d states were sampled, want at least 60", sampled)
	}
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
