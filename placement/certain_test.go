package placement

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	corev1 "k8s.io/api/core/v1"
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
			if a%3 == 0 {
				setVariedSpec(s, 4+a%8, rnd)
			}
		}, at...)
		if rnd.Intn(2) == 0 {
			b.service(fmt.Sprint("a", a))
		}
	}
	return b
}

// TestCertainLandings makes random waves in random clusters. For each pod of a wave, it asks for a certain landing
// at the beginning of the wave, and after all moves of the wave. If there is one, the full prediction must not find
// another winner than the nodes that Certain named. EVENKEEL_LONG=1 makes 100,000 waves.
func TestCertainLandings(t *testing.T) {
	waves, made, asked, certain := 1500, 0, 0, 0
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
		w := b.model(t)
		for range 50 {
			a, c := checkCertain(t, w, rnd)
			if made, asked, certain = made+1, asked+a, certain+c; t.Failed() {
				t.Fatalf("seed %d, version %s", seed, b.objects.ServerVersion)
			}
		}
	}
	t.Logf("%d waves; %d of %d landings are certain", made, certain, asked)
	if 4*certain < asked {
		t.Errorf("%d of %d landings are certain, want at least a quarter", certain, asked)
	}
}

// checkCertain makes a wave of random moves and checks its pods at its beginning and its end.
func checkCertain(t *testing.T, w *ClusterModel, rnd *rand.Rand) (asked, certain int) {
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
	check := func(m move, when string) {
		var named []cluster.NodeID
		asked++
		if !w.Certain(m.pod, m.from, func(nodes []cluster.NodeID) bool { named = slices.Clone(nodes); return true }) {
			return
		}
		certain++
		at := w.Cluster.NodeOf(m.pod)
		w.Cluster.Move(m.pod, m.from)
		pr := w.Predict(m.pod)
		w.Cluster.Move(m.pod, at)
		for _, s := range [...]prediction.State{pr.Terminating, pr.Gone} {
			for _, n := range s.Winners {
				if !slices.Contains(named, n) {
					t.Errorf("%s: %s may land on %s, which Certain does not name", when, w.Cluster.Snap.Pods[m.pod].Object.Name, w.Cluster.Snap.Nodes[n].Name)
				}
			}
			if len(s.Winners) == 0 {
				t.Errorf("%s: %s has no place", when, w.Cluster.Snap.Pods[m.pod].Object.Name)
			}
		}
	}
	for _, m := range wave {
		check(m, "at the beginning")
	}
	for _, m := range wave {
		w.Cluster.Move(m.pod, m.to)
	}
	for _, m := range wave {
		check(m, "at the end")
	}
	return asked, certain
}
