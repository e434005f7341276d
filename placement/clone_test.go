package placement

import (
	"math/rand"
	"reflect"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// TestCloneStandsAlone: a copy foretells what a world of its own does that took the
// same way, and so does the world that was copied, whatever happens to the other.
func TestCloneStandsAlone(t *testing.T) {
	profiles := []Profile{DefaultProfile(), PolicyProfile(DefaultPolicy())}
	for seed := range int64(12) {
		rnd := rand.New(rand.NewSource(seed))
		p := profiles[seed%4/3]
		b := varied(seed, []int{30, 130}[seed%2])
		first, alone := b.worldOf(t, p), b.worldOf(t, p)
		pods, nodes := len(first.snap.Pods), len(first.snap.Nodes)
		wander := func(steps int, worlds ...*World) {
			for range steps {
				pod, to := cluster.PodID(rnd.Intn(pods)), cluster.NodeID(rnd.Intn(nodes+1)-1)
				hinted := []cluster.NodeID{cluster.NodeID(rnd.Intn(nodes))}
				for _, w := range worlds {
					w.Move(pod, to)
					w.Hint(hints.Taint, hinted)
					w.Predict(pod)
				}
			}
		}
		wander(30, first, alone)
		second := first.Clone()
		other := b.worldOf(t, p)
		for i := range pods {
			other.Move(cluster.PodID(i), first.NodeOf(cluster.PodID(i)))
		}
		wander(15, first, alone)
		wander(15, second, other)
		for i := 0; i < pods; i += 7 {
			pod := cluster.PodID(i)
			if got, want := first.Predict(pod), alone.Predict(pod); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: the world that was copied foretells %+v, want %+v", seed, first.snap.Pods[i].Object.Name, got, want)
			}
			if got, want := second.Predict(pod), other.Predict(pod); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: the copy foretells %+v, want %+v", seed, first.snap.Pods[i].Object.Name, got, want)
			}
		}
		for n := range nodes {
			if got, want := second.Requested(cluster.NodeID(n)), other.Requested(cluster.NodeID(n)); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, node %d: %v are requested, want %v", seed, n, got, want)
			}
		}
	}
}

// TestCloneKeepsWhatPodsHold: ports, disks and extended resources that a pod takes
// in a copy are free in the world that was copied.
func TestCloneKeepsWhatPodsHold(t *testing.T) {
	b := newBuilder()
	b.node("n1", "")
	b.node("n2", "")
	holds := func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		s.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "d"}}}}
	}
	b.app("web", 100, holds, "n1", "")
	w := b.world(t)
	one, two, n1, n2 := id(t, w, "web-0"), id(t, w, "web-1"), nodeID(t, w, "n1"), nodeID(t, w, "n2")
	c := w.Clone()
	c.Move(one, n2)
	for _, x := range []struct {
		name string
		w    *World
		want cluster.NodeID
	}{{"copy", c, n1}, {"copied", w, n2}} {
		if got := x.w.Predict(two).Likeliest(); got != x.want {
			t.Errorf("%s: the second goes to node %d, want %d: %+v", x.name, got, x.want, x.w.Predict(two))
		}
	}
}
