package placement

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// newWideCluster builds nodes with 10 CPUs in three zones, and apps whose pods use a random part of them.
func newWideCluster(rnd *rand.Rand, nodes int) *snapshotBuilder {
	b := newSnapshotBuilder()
	for i := range nodes {
		b.node(fmt.Sprintf("n%04d", i), fmt.Sprint("z", i%3), func(*corev1.Node) {})
	}
	low := rnd.Intn(nodes)
	for a := range 24 {
		at := make([]string, 6+rnd.Intn(nodes/3))
		for i := range at {
			at[i] = b.objects.Nodes[(low+rnd.Intn(1+rnd.Intn(nodes)))%nodes].Name
		}
		b.app(fmt.Sprint("a", a), int64(20+rnd.Intn(10)*(5+rnd.Intn(60)*(a%2))), func(s *corev1.PodSpec) {
			switch a % 3 {
			case 0:
				setVariedSpec(s, 4+a%8, rnd)
			case 1:
				s.Containers[0].Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("100Mi")
			}
		}, at...)
		if rnd.Intn(2) == 0 {
			b.service(fmt.Sprint("a", a))
		}
	}
	for i := range 8 {
		n := b.objects.Nodes[rnd.Intn(nodes)].Name
		on := make([]string, 1+rnd.Intn(8))
		for k := range on {
			on[k] = n
		}
		b.app(fmt.Sprint("crowd", i), 100, func(s *corev1.PodSpec) {
			for _, key := range []string{hostKey, zoneKey} {
				s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
					MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: appSelector(fmt.Sprint("crowd", i))})
			}
			if i%2 == 0 {
				s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("500Mi")}}
			}
		}, on...)
		b.app(fmt.Sprint("filler", i), int64(rnd.Intn(10000)), nil, n)
	}
	return b
}

// TestCertainLandings makes random waves in random clusters. For each pod of a wave, it asks for a certain landing
// at the beginning of the wave, and after all moves of the wave. If there is one, the full prediction must not find
// another winner than the nodes that PossibleWinners named. EVENKEEL_LONG=1 makes 100,000 waves.
func TestCertainLandings(t *testing.T) {
	waves, made, asked, certain, storage := 1500, 0, 0, 0, 0
	if os.Getenv("EVENKEEL_LONG") != "" {
		waves = 100_000
	}
	for seed := int64(0); made < waves; seed++ {
		rnd := rand.New(rand.NewSource(seed))
		b := newVariedCluster(seed, 101+rnd.Intn(100))
		if seed%4 > 0 {
			b = newWideCluster(rnd, 100+rnd.Intn(300))
		}
		b.objects.ServerVersion = fmt.Sprintf("1.%d", kubeversion.Oldest+rnd.Intn(kubeversion.Newest-kubeversion.Oldest+1))
		addRareFeatures(b, rnd)
		w := b.modelWithProfile(t, variedProfile([]int64{0, 2, 3, 4, 6, 8}[rnd.Intn(6)]))
		if rnd.Intn(4) == 0 {
			h := []cluster.NodeID{}
			for range rnd.Intn(4) {
				h = append(h, cluster.NodeID(rnd.Intn(len(w.Cluster.Snap.Nodes))))
			}
			w.SetHints([]hints.Kind{hints.Taint, hints.Label}[rnd.Intn(2)], h)
		}
		for range 50 {
			a, c, s := checkCertain(t, w, rnd)
			if made, asked, certain, storage = made+1, asked+a, certain+c, storage+s; t.Failed() {
				t.Fatalf("seed %d, version %s", seed, b.objects.ServerVersion)
			}
		}
	}
	t.Logf("%d waves; %d of %d landings are certain, %d of them of pods that request ephemeral storage", made, certain, asked, storage)
	if 8*storage < certain {
		t.Errorf("%d certain landings are of pods that request ephemeral storage, want at least an eighth", storage)
	}
	if 4*certain < asked {
		t.Errorf("%d of %d landings are certain, want at least a quarter", certain, asked)
	}
}

// checkCertain makes a wave of random moves and checks its pods at its beginning and its end.
func checkCertain(t *testing.T, w *ClusterModel, rnd *rand.Rand) (asked, certain, storage int) {
	t.Helper()
	type move struct {
		pod      cluster.PodID
		from, to cluster.NodeID
	}
	var wave []move
	for range 1 + rnd.Intn(8) {
		p := cluster.PodID(rnd.Intn(len(w.Cluster.Snap.Pods)))
		if _, ok := w.Supported(p); !ok || slices.ContainsFunc(wave, func(m move) bool { return m.pod == p }) {
			continue
		}
		wave = append(wave, move{p, w.Cluster.NodeOf(p), cluster.NodeID(rnd.Intn(len(w.Cluster.Snap.Nodes)))})
	}
	check := func(m move) {
		asked++
		if checkNamed(t, w, m.pod, m.from) {
			certain++
			if w.Cluster.Snap.Pods[m.pod].Requests.EphemeralStorageByte > 0 {
				storage++
			}
		}
	}
	for _, m := range wave {
		check(m)
	}
	for _, m := range wave {
		w.Cluster.Move(m.pod, m.to)
	}
	for _, m := range wave {
		check(m)
	}
	return asked, certain, storage
}

// checkNamed reports whether PossibleWinners proves something, and checks that Predict finds no other winner than the
// nodes that it names.
func checkNamed(t *testing.T, w *ClusterModel, pod cluster.PodID, from cluster.NodeID) bool {
	t.Helper()
	named, ok := w.PossibleWinners(pod, from)
	if !ok {
		return false
	}
	named = named.Clone()
	at := w.Cluster.NodeOf(pod)
	w.Cluster.Move(pod, from)
	pr := w.Predict(pod)
	w.Cluster.Move(pod, at)
	for _, s := range [...]prediction.State{pr.Terminating, pr.Gone} {
		for _, n := range s.Winners {
			if !named.Has(n) {
				t.Errorf("%s may land on %s, which PossibleWinners does not name", w.Cluster.Snap.Pods[pod].Object.Name, w.Cluster.Snap.Nodes[n].Name)
			}
		}
	}
	if len(pr.Gone.Winners) == 0 {
		t.Errorf("%s has no place", w.Cluster.Snap.Pods[pod].Object.Name)
	}
	return true
}

// TestCertainKnowsTheVictimsNode asks about victims whose node has room for the replacement only once they are
// gone. Then it has the greatest raw spread score of a window, or is the best node.
func TestCertainKnowsTheVictimsNode(t *testing.T) {
	full := newSnapshotBuilder()
	var zones [3][]string
	for i := range 200 {
		n := fmt.Sprintf("n%04d", i)
		zones[i%3] = append(zones[i%3], n)
		full.node(n, fmt.Sprint("z", i%3))
	}
	full.app("low", 8500, nil, zones[0]...)
	at := slices.Concat(slices.Repeat(zones[1][:1], 8), zones[1][1:5], zones[2][:12], zones[0][:2])
	full.app("a", 100, func(s *corev1.PodSpec) {
		for _, key := range []string{hostKey, zoneKey} {
			s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: appSelector("a")})
		}
	}, at...)
	full.app("rest", 9150, nil, zones[1][0])

	small := newSnapshotBuilder()
	var big []string
	for i := range 201 {
		n, cpus := fmt.Sprintf("n%04d", i), int64(64)
		if i == 0 {
			cpus = 8
		} else {
			big = append(big, n)
		}
		small.node(n, "z", func(o *corev1.Node) {
			o.Status.Allocatable = corev1.ResourceList{"cpu": *resource.NewQuantity(cpus, resource.DecimalSI), "pods": resource.MustParse("110"),
				"memory": *resource.NewQuantity(cpus<<30, resource.BinarySI)}
		})
	}
	small.app("low", 38000, nil, big...)
	small.app("rest", 4000, nil, "n0000")
	small.app("a", 0, func(s *corev1.PodSpec) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi")}}
	}, "n0000")

	for name, b := range map[string]*snapshotBuilder{"spread": full, "resources of the pod": small} {
		t.Run(name, func(t *testing.T) {
			w := b.model(t)
			p := podID(t, w, "a-0")
			checkNamed(t, w, p, w.Cluster.NodeOf(p))
		})
	}
}
