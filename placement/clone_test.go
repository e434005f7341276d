package placement

import (
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestCloneStandsAlone: after different moves, a copy predicts the same as a new model with the
// same moves, and so does the original.
func TestCloneStandsAlone(t *testing.T) {
	profiles := []scheduler.Profile{scheduler.DefaultProfile(), mostAllocatedProfile()}
	same := func(seed int64, which string, a, b *ClusterModel) {
		for i := 0; i < len(a.Cluster.Snap.Pods); i += 7 {
			if got, want := a.Predict(cluster.PodID(i)), b.Predict(cluster.PodID(i)); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: %s predicts %+v, want %+v", seed, a.Cluster.Snap.Pods[i].Object.Name, which, got, want)
			}
		}
		for n := range a.Cluster.Snap.Nodes {
			if got, want := a.Cluster.Requested(cluster.NodeID(n)), b.Cluster.Requested(cluster.NodeID(n)); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, node %d: requests in %s are %v, want %v", seed, n, which, got, want)
			}
		}
	}
	for seed := range int64(12) {
		rnd := rand.New(rand.NewSource(seed))
		p := profiles[seed%4/3]
		b := newVariedCluster(seed, []int{30, 130}[seed%2])
		first, alone := b.modelWithProfile(t, p), b.modelWithProfile(t, p)
		pods, nodes := len(first.Cluster.Snap.Pods), len(first.Cluster.Snap.Nodes)
		wander := func(steps int, worlds ...*ClusterModel) {
			for range steps {
				pod, to := cluster.PodID(rnd.Intn(pods)), cluster.NodeID(rnd.Intn(nodes+1)-1)
				hinted := []cluster.NodeID{cluster.NodeID(rnd.Intn(nodes))}
				for _, m := range worlds {
					m.Cluster.Move(pod, to)
					m.SetHints(hints.Taint, hinted)
					m.Predict(pod)
				}
			}
		}
		wander(30, first, alone)
		second := first.Clone()
		other := b.modelWithProfile(t, p)
		for i := range pods {
			other.Cluster.Move(cluster.PodID(i), first.Cluster.NodeOf(cluster.PodID(i)))
		}
		wander(15, first, alone)
		wander(15, second, other)
		same(seed, "the original", first, alone)
		same(seed, "the copy", second, other)
	}
}

// TestCloneKeepsWhatPodsHold: a move in a copy changes ports, disks and extended resources in the
// copy only.
func TestCloneKeepsWhatPodsHold(t *testing.T) {
	gpu := corev1.ResourceName("example.com/gpu")
	for name, holds := range map[string]func(*corev1.PodSpec){
		"a port": func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		},
		"a disk": func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "d"}}}}
		},
		"an extended resource": func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests[gpu] = resource.MustParse("1")
		},
	} {
		b := newSnapshotBuilder()
		for _, n := range []string{"n1", "n2"} {
			b.node(n, "", func(n *corev1.Node) {
				n.Status.Allocatable = n.Status.Allocatable.DeepCopy()
				n.Status.Allocatable[gpu] = resource.MustParse("1")
			})
		}
		b.app("web", 100, holds, "n1", "")
		m := b.model(t)
		one, two, n1, n2 := podID(t, m, "web-0"), podID(t, m, "web-1"), nodeID(t, m, "n1"), nodeID(t, m, "n2")
		c := m.Clone()
		c.Cluster.Move(one, n2)
		if got := c.Predict(two).Gone.Feasible; !slices.Equal(got, []cluster.NodeID{n1}) {
			t.Errorf("%s: in the copy, the second pod fits on %v, want node %d", name, got, n1)
		}
		if got := m.Predict(two).Gone.Feasible; !slices.Equal(got, []cluster.NodeID{n2}) {
			t.Errorf("%s: in the original, the second pod fits on %v, want node %d", name, got, n2)
		}
	}
}
