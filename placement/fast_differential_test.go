package placement

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newVariedCluster builds nodes of several sizes, some nearly full. The apps of the cluster use
// every feature that the fast prediction supports.
func newVariedCluster(seed int64, nodes int) *snapshotBuilder {
	rnd := rand.New(rand.NewSource(seed))
	b := newSnapshotBuilder()
	rare, sizes := rnd.Intn(3), 1+rnd.Intn(3)
	for i := range nodes {
		b.node(fmt.Sprintf("n%04d", i), fmt.Sprint("z", rnd.Intn(4)), func(n *corev1.Node) {
			k := int64(1 + rnd.Intn(sizes))
			n.Status.Allocatable = corev1.ResourceList{"cpu": *resource.NewQuantity(10*k, resource.DecimalSI), "pods": resource.MustParse("110"),
				"memory": *resource.NewQuantity((10<<30)*k+int64(rnd.Intn(2)*rnd.Intn(1<<28)), resource.BinarySI)}
			n.Labels["disk"] = fmt.Sprint(rnd.Intn(3))
			n.Labels["row"] = fmt.Sprint("r", rnd.Intn(nodes/20+1)) // no window contains all rows
			if rnd.Intn(15) < rare {
				n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
			if rnd.Intn(40) < rare {
				n.Spec.Unschedulable = true
			}
			if rnd.Intn(40) < rare {
				delete(n.Labels, []string{hostKey, zoneKey}[rnd.Intn(2)])
			}
			if rnd.Intn(9) < rare {
				n.Status.Images = []corev1.ContainerImage{{Names: []string{fmt.Sprint("registry.example/a", rnd.Intn(12), ":1")}, SizeBytes: 700 << 20}}
			}
		})
	}
	for a := range 12 {
		at := make([]string, 4+rnd.Intn(nodes/3))
		for i := range at {
			at[i] = b.objects.Nodes[rnd.Intn(nodes)].Name
			if a%2 == 0 { // fills the first half of the nodes
				at[i] = b.objects.Nodes[rnd.Intn(nodes/2)].Name
			}
		}
		b.app(fmt.Sprint("a", a), int64(rnd.Intn(5)*(150+50*a)), func(s *corev1.PodSpec) { setVariedSpec(s, a, rnd) }, at...)
		if rnd.Intn(2) == 0 {
			b.service(fmt.Sprint("a", a))
		}
	}
	return b
}

func setVariedSpec(s *corev1.PodSpec, a int, rnd *rand.Rand) {
	if a < 4 { // no constraints
		return
	}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("a", rnd.Intn(12))}}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("a", a)}}
	keys := []string{hostKey, zoneKey, "disk", "row"}
	s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}, PodAffinity: &corev1.PodAffinity{}}
	anti := s.Affinity.PodAntiAffinity
	switch rnd.Intn(5) {
	case 0:
		anti.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{TopologyKey: keys[rnd.Intn(2)*3], LabelSelector: sel}}
	case 1:
		anti.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + rnd.Intn(99)),
			PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: keys[rnd.Intn(4)], LabelSelector: own}}}
	case 2:
		s.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{TopologyKey: keys[1+rnd.Intn(3)], LabelSelector: sel}}
	case 3:
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: int32(1 + rnd.Intn(99)), Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}}}}}
	}
	if rnd.Intn(4) == 0 {
		s.NodeSelector = map[string]string{"disk": "2"}
	}
	if rnd.Intn(3) == 0 {
		s.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
	}
	for range rnd.Intn(4) {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + rnd.Intn(3)), TopologyKey: keys[rnd.Intn(4)], LabelSelector: []*metav1.LabelSelector{sel, own, own}[rnd.Intn(3)],
			WhenUnsatisfiable: []corev1.UnsatisfiableConstraintAction{corev1.ScheduleAnyway, corev1.ScheduleAnyway, corev1.DoNotSchedule}[rnd.Intn(3)]})
	}
}

// TestQuickIsTheSameAsTheGeneralWay compares the fast and the general prediction on many clusters,
// server versions and several profiles, while pods move and hints change.
func TestQuickIsTheSameAsTheGeneralWay(t *testing.T) {
	seeds := int64(60)
	if testing.Short() {
		seeds = 12
	}
	quick, states := 0, 0
	for seed := range seeds {
		rnd := rand.New(rand.NewSource(seed))
		p := scheduler.DefaultProfile()
		switch seed % 6 {
		case 3:
			p.PercentageOfNodesToScore = 40
		case 4:
			p.Weights.ResourcesFit, p.Weights.BalancedAllocation, p.Weights.ImageLocality, p.Weights.InterPodAffinity = 3, 5, 2, 7
		case 5:
			p.Weights.PodTopologySpread, p.Weights.BalancedAllocation, p.HardPodAffinityWeight = 0, 0, 40
		}
		b := newVariedCluster(seed, []int{3, 101, 130, 200, 400}[rnd.Intn(5)]+rnd.Intn(20))
		b.objects.ServerVersion = fmt.Sprintf("1.%d", kubeversion.Oldest+rnd.Intn(kubeversion.Newest-kubeversion.Oldest+1))
		w := b.modelWithProfile(t, p)
		for range 40 {
			pod := cluster.PodID(rnd.Intn(len(w.Cluster.Snap.Pods)))
			q, s := compareWithGeneral(t, w, pod)
			quick, states = quick+q, states+s
			if t.Failed() {
				t.Fatalf("seed %d, version %s, %s", seed, b.objects.ServerVersion, w.Cluster.Snap.Pods[pod].Object.Name)
			}
			w.Cluster.Move(cluster.PodID(rnd.Intn(len(w.Cluster.Snap.Pods))), cluster.NodeID(rnd.Intn(len(w.Cluster.Snap.Nodes)+1)-1))
			if rnd.Intn(5) == 0 {
				hinted := []cluster.NodeID{cluster.NodeID(rnd.Intn(len(w.Cluster.Snap.Nodes)))}
				w.SetHints([]hints.Kind{hints.Taint, hints.Label}[rnd.Intn(2)], hinted[:rnd.Intn(2)])
			}
		}
	}
	t.Logf("the fast prediction supports %d of %d states", quick, states)
	if 3*quick < states {
		t.Errorf("the fast prediction supports %d of %d states, want at least a third", quick, states)
	}
}

// compareWithGeneral returns how many of the states the fast prediction supported, and the number
// of states.
func compareWithGeneral(t *testing.T, w *ClusterModel, pod cluster.PodID) (quick, states int) {
	t.Helper()
	var only prediction.Prediction
	if _, ok := w.Supported(pod); ok && w.predictFast(w.replacementOf(pod), pod, &only) {
		quick = 2
	}
	got := w.Predict(pod)
	w.disableFast = true
	want := w.Predict(pod)
	w.disableFast = false
	for _, x := range [...]struct {
		name      string
		got, want prediction.State
	}{{"terminating", got.Terminating, want.Terminating}, {"gone", got.Gone, want.Gone}} {
		if !slices.Equal(x.got.Feasible, x.want.Feasible) {
			t.Errorf("%s: feasible nodes %v, want %v", x.name, x.got.Feasible, x.want.Feasible)
		}
		if x.got.Best != x.want.Best || x.got.SampleSize != x.want.SampleSize || (x.got.Odds == nil) != (x.want.Odds == nil) {
			t.Errorf("%s: best score %d with sample size %d, want %d with %d", x.name, x.got.Best, x.got.SampleSize, x.want.Best, x.want.SampleSize)
		}
		if !slices.Equal(x.got.Winners, x.want.Winners) {
			t.Errorf("%s: winners %v, want %v; odds %v, want %v", x.name, x.got.Winners, x.want.Winners, x.got.Odds, x.want.Odds)
			continue
		}
		for i, n := range x.want.Winners {
			if math.Abs(x.got.WinnerProb(i)-x.want.WinnerProb(i)) > 1e-9 {
				t.Errorf("%s: node %d has the probability %.9f, want %.9f", x.name, n, x.got.WinnerProb(i), x.want.WinnerProb(i))
			}
		}
		states++
	}
	return quick, states
}
