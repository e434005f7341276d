package placement

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSampleSizeFollowsTheNumberOfNodes(t *testing.T) {
	for _, c := range []struct{ nodes, percentage, want int }{
		{3, 0, 3}, {99, 0, 99}, {99, 5, 99}, {100, 0, 100}, {101, 0, 100}, {250, 0, 120}, {300, 0, 144},
		{1000, 0, 420}, {5000, 0, 500}, {6000, 0, 300}, {300, 10, 100}, {2000, 10, 200}, {300, 100, 300},
	} {
		if got := fast.SampleSize(c.nodes, c.percentage); got != c.want {
			t.Errorf("%d nodes at %d %%: sample size %d, want %d", c.nodes, c.percentage, got, c.want)
		}
	}
}

func TestWalkTakesOneNodeOfEachZoneInTurn(t *testing.T) {
	b := newSnapshotBuilder()
	for i, zone := range []string{"b", "b", "a", "", "b"} {
		b.node(fmt.Sprint("n", i), zone)
	}
	b.objects.Nodes[4].Labels[corev1.LabelFailureDomainBetaZone] = "a"
	w := b.model(t)
	if got, want := nodeNames(w, w.Cluster.InitNodeOrder()), "n0 n2 n3 n1 n4"; got != want {
		t.Errorf("the node order is %s, want %s", got, want)
	}
}

// newUnevenCluster builds a cluster in which every score that depends on the sample differs between
// nodes.
func newUnevenCluster(seed int64, nodes int) *snapshotBuilder {
	rnd := rand.New(rand.NewSource(seed))
	b := newSnapshotBuilder()
	for i := range nodes {
		b.node(fmt.Sprintf("n%04d", i), fmt.Sprint("z", rnd.Intn(4)), func(n *corev1.Node) {
			for range rnd.Intn(8) / 6 * rnd.Intn(3) {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint("k", len(n.Spec.Taints)), Effect: corev1.TaintEffectPreferNoSchedule})
			}
			n.Spec.Unschedulable = rnd.Intn(20) == 0
			n.Labels["disk"] = fmt.Sprint(rnd.Intn(3))
			if rnd.Intn(5) == 0 {
				delete(n.Labels, hostKey)
			}
		})
	}
	for a := range 8 {
		at := make([]string, nodes/4)
		for i := range at {
			at[i] = b.objects.Nodes[rnd.Intn(nodes)].Name
		}
		b.app(fmt.Sprint("a", a), int64(100+100*rnd.Intn(5)), func(s *corev1.PodSpec) { setSampleDependentSpec(s, a, rnd) }, at...)
	}
	return b
}

func setSampleDependentSpec(s *corev1.PodSpec, a int, rnd *rand.Rand) {
	s.Affinity = &corev1.Affinity{}
	if a%2 == 0 {
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: int32(1 + rnd.Intn(9)), Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}}}}}
	}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("a", rnd.Intn(8))}}
	if a%3 == 0 {
		s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 10, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: sel}}}}
	}
	if a == 6 { // the victim affects its whole zone
		s.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm = corev1.PodAffinityTerm{
			TopologyKey: zoneKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a6"}}}
	}
	for _, key := range []string{hostKey, zoneKey, "disk"}[:a%4] {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: sel})
	}
}

func TestPredictionsOfUnevenClustersEqualTheReference(t *testing.T) {
	sampled := 0
	for seed := range int64(9) {
		w := newUnevenCluster(seed, 101+int(seed)*20).modelWithProfile(t, variedProfile(seed))
		for a := range 8 {
			sampled += compareWithReference(t, w, podID(t, w, fmt.Sprintf("a%d-0", a)))
		}
	}
	if sampled < 60 {
		t.Errorf("%d states were sampled, want at least 60", sampled)
	}
}

func TestEveryNodeIsJudgedWhereFewAreFeasible(t *testing.T) {
	b := newSnapshotBuilder()
	for i := range 150 {
		b.node(fmt.Sprintf("n%03d", i), "", func(n *corev1.Node) { n.Spec.Unschedulable = i >= 100 })
	}
	b.app("web", 1000, nil, "n000", "n001")
	pr := b.model(t).Predict(podID(t, b.model(t), "web-0"))
	if s := pr.Terminating; len(s.Feasible) != 100 || s.Odds != nil || len(s.Winners) != 98 {
		t.Errorf("%d feasible nodes, %d winners, odds %v; want 100, 98, none", len(s.Feasible), len(s.Winners), s.Odds)
	}
}

func TestOddsSumToOneAndReachThePrediction(t *testing.T) {
	w := newUnevenCluster(3, 300).model(t)
	pr := w.Predict(podID(t, w, "a3-0"))
	if pr.Terminating.Odds == nil {
		t.Fatal("no odds: the prediction does not sample 300 nodes")
	}
	if got := pr.Prob(func(cluster.NodeID) bool { return true }); got != 1 {
		t.Errorf("the probability of all nodes is %v, want 1", got)
	}
	sum, best := 0.0, 0.0
	for n := range w.Cluster.Snap.Nodes {
		p := pr.Prob(func(x cluster.NodeID) bool { return int(x) == n })
		sum, best = sum+p, max(best, p)
	}
	likeliest := pr.Prob(func(x cluster.NodeID) bool { return x == pr.LikeliestOf(anyNode) })
	if math.Abs(sum-1) > 1e-9 || math.Abs(likeliest-best) > 1e-12 {
		t.Errorf("the probabilities sum to %v, want 1; the likeliest node has %v, want %v", sum, likeliest, best)
	}
}
