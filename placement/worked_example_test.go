package placement

import (
	"math"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newThreeZoneCluster has one node per zone, n1 to n3. Apps A, B and C request 70, 70 and 10 % of
// the nodes; C requires affinity to B. The arguments are the numbers of D's pods on each node; each
// pod requests 10 %.
func newThreeZoneCluster(z1, z2, z3 int) *snapshotBuilder {
	b := newSnapshotBuilder()
	for _, z := range []string{"1", "2", "3"} {
		b.node("n"+z, "z"+z)
	}
	b.app("a", 1000, nil, "n1", "n2", "n3")
	b.app("b", 3000, nil, "n1", "n2")
	b.app("c", 3000, func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: hostKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "b"}}}}}}
	}, "n1", "n2")
	var d []string
	for i, count := range []int{z1, z2, z3} {
		for range count {
			d = append(d, []string{"n1", "n2", "n3"}[i])
		}
	}
	b.app("d", 1000, nil, d...)
	for _, name := range []string{"a", "b", "c", "d"} {
		b.service(name)
	}
	return b
}

// TestWorkedZones compares the two plugins that differ between the nodes: 2 x PodTopologySpread +
// LeastAllocated. TaintToleration adds 3 x 100 and BalancedAllocation 75 to every node, and
// InterPodAffinity 0.
func TestWorkedZones(t *testing.T) {
	cases := []struct {
		name       string
		dealt      [3]int
		gone       bool
		want       [3]int64
		wantWinner string
	}{
		{"1/2/3 while the victim terminates", [3]int{1, 2, 3}, false, [3]int64{210, 150, 200}, "n1"},
		{"1/2/3 once it is gone", [3]int{1, 2, 3}, true, [3]int64{210, 150, 210}, "n1 n3"},
		{"1/1/4 while the victim terminates", [3]int{1, 1, 4}, false, [3]int64{210, 210, 152}, "n1 n2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newThreeZoneCluster(c.dealt[0], c.dealt[1], c.dealt[2]).model(t)
			const victim = "d-5" // on n3
			for i, node := range []string{"n1", "n2", "n3"} {
				v := explainNode(t, m, victim, node, c.gone)
				differs := 2*scoreOf(t, v, "PodTopologySpread") + scoreOf(t, v, "NodeResourcesFit")
				if differs != c.want[i] {
					t.Errorf("%s: got %d, want %d (%+v)", node, differs, c.want[i], v.Scores)
				}
				if rest := v.Total - differs; rest != 300+75 {
					t.Errorf("%s: the other plugins give %d, want 375 on every node", node, rest)
				}
			}
			p := m.Predict(podID(t, m, victim))
			s := p.Terminating
			if c.gone {
				s = p.Gone
			}
			if got := nodeNames(m, s.Winners); got != c.wantWinner {
				t.Errorf("winners %q, want %q", got, c.wantWinner)
			}
		})
	}
}

func TestProbabilitiesWeighBothStates(t *testing.T) {
	m := newThreeZoneCluster(1, 2, 3).model(t)
	p := m.Predict(podID(t, m, "d-5"))
	on := func(name string) float64 {
		n := nodeID(t, m, name)
		return p.Prob(func(x cluster.NodeID) bool { return x == n })
	}
	if got := on("n1"); math.Abs(got-0.95) > 1e-9 { // n1 wins alone with weight 0.9, and ties with n3 with weight 0.1
		t.Errorf("n1: %v, want 0.95", got)
	}
	if got := on("n3"); math.Abs(got-0.05) > 1e-9 {
		t.Errorf("n3: %v, want 0.05", got)
	}
	if p.Pending() != 0 || m.Cluster.Snap.Nodes[p.LikeliestOf(anyNode)].Name != "n1" {
		t.Errorf("pending %v, likeliest %v", p.Pending(), p.LikeliestOf(anyNode))
	}
}

func TestWithoutGraceOnlyGoneCounts(t *testing.T) {
	b := newThreeZoneCluster(1, 2, 3)
	zero := int64(0)
	b.pod("d-5").Spec.TerminationGracePeriodSeconds = &zero
	m := b.model(t)
	p := m.Predict(podID(t, m, "d-5"))
	n3 := nodeID(t, m, "n3")
	if got := p.Prob(func(n cluster.NodeID) bool { return n == n3 }); p.WeightGone != 1 || got != 0.5 {
		t.Errorf("weight %v, back to n3 %v; want 1 and 0.5", p.WeightGone, got)
	}
}

// TestRequiredAffinityKeepsCBesideB: C may only run on the nodes of B, although n3 has the fewest
// requests.
func TestRequiredAffinityKeepsCBesideB(t *testing.T) {
	m := newThreeZoneCluster(0, 0, 1).model(t)
	p := m.Predict(podID(t, m, "c-0"))
	if got := nodeNames(m, p.Gone.Feasible); got != "n1 n2" {
		t.Errorf("feasible %q, want n1 n2", got)
	}
	if v := explainNode(t, m, "c-0", "n3", true); v.RefusedBy != scheduler.InterPodAffinity {
		t.Errorf("n3 is refused by %q", v.RefusedBy)
	}
}

func TestMoveChangesThePredictionAndMovingBackRestoresIt(t *testing.T) {
	m := newThreeZoneCluster(1, 1, 4).model(t)
	before := m.Explain(podID(t, m, "d-5"))
	requested := m.Cluster.Requested(nodeID(t, m, "n3"))
	n1, n3 := nodeID(t, m, "n1"), nodeID(t, m, "n3")

	m.Cluster.Move(podID(t, m, "d-4"), n1)
	if m.Cluster.NodeOf(podID(t, m, "d-4")) != n1 {
		t.Error("d-4 is not on n1")
	}
	if got := m.Cluster.Requested(n3).MilliCPU; got != requested.MilliCPU-1000 {
		t.Errorf("n3 has %d requested, want 1000 less than %d", got, requested.MilliCPU)
	}
	// D now has 2/1/3 pods. Only n2 wins, because n2 has the fewest requests.
	if got := nodeNames(m, m.Predict(podID(t, m, "d-5")).Terminating.Winners); got != "n2" {
		t.Errorf("after the move the winners are %q, want n2", got)
	}
	m.Cluster.Move(podID(t, m, "d-4"), n3)
	if diff := cmp.Diff(before, m.Explain(podID(t, m, "d-5"))); diff != "" {
		t.Error(diff)
	}
}

// TestMovedWorldEqualsFreshOne checks that, after a move, the model predicts the same as a new
// model with the pod on that node.
func TestMovedWorldEqualsFreshOne(t *testing.T) {
	moved := newThreeZoneCluster(1, 2, 3).model(t)
	moved.Predict(podID(t, moved, "d-5")) // counters exist before the move
	moved.Cluster.Move(podID(t, moved, "d-5"), nodeID(t, moved, "n1"))
	b := newThreeZoneCluster(1, 2, 3)
	b.pod("d-5").Spec.NodeName = "n1"
	fresh := b.model(t)
	for _, pod := range []string{"a-0", "b-0", "c-1", "d-0", "d-5"} {
		if diff := cmp.Diff(fresh.Explain(podID(t, fresh, pod)), moved.Explain(podID(t, moved, pod))); diff != "" {
			t.Errorf("%s: %s", pod, diff)
		}
	}
}

func TestGoneWithoutReplacement(t *testing.T) {
	m := newThreeZoneCluster(1, 2, 3).model(t)
	m.Cluster.Move(podID(t, m, "d-5"), cluster.NoNode)
	p := m.Predict(podID(t, m, "d-5"))
	if p.WeightGone != 1 || nodeNames(m, p.Gone.Winners) != "n1 n3" || nodeNames(m, p.Terminating.Winners) != "n1 n3" {
		t.Errorf("got %+v, want the state without the victim", p)
	}
	if m.Cluster.NodeOf(podID(t, m, "d-5")) != cluster.NoNode {
		t.Error("the removed pod still has a node")
	}
}
