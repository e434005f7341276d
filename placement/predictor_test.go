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
// most features that decide where a pod lands.
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

// addRareFeatures adds apps that few clusters have: with host ports, disks, extended resources, ephemeral storage,
// affinity to single nodes, and spread over labels that each node has alone.
func addRareFeatures(b *snapshotBuilder, rnd *rand.Rand) {
	const gpu = "example.com/gpu"
	for i, n := range b.objects.Nodes {
		n.Labels["own"] = fmt.Sprint("o", i)
		n.Status.Allocatable[gpu], n.Status.Allocatable["ephemeral-storage"] = *resource.NewQuantity(int64(rnd.Intn(4)), resource.DecimalSI), resource.MustParse("2Gi")
		if rnd.Intn(10) == 0 {
			delete(n.Labels, "own")
		}
	}
	soft := func(key, app string) []corev1.TopologySpreadConstraint {
		return []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: appSelector(app)}}
	}
	edits := []func(*corev1.PodSpec){
		func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		},
		func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "d"}}}}
		},
		func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests[gpu] = resource.MustParse("1") },
		func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests["ephemeral-storage"] = resource.MustParse("1Gi")
			s.TopologySpreadConstraints = soft("row", "b3")
		},
		func(s *corev1.PodSpec) { s.Affinity = affinityTo("a0", hostKey) },
		func(s *corev1.PodSpec) { s.Affinity = affinityTo("b5", "own") },
		func(s *corev1.PodSpec) { s.TopologySpreadConstraints = soft("own", "b6") },
		func(s *corev1.PodSpec) {
			for _, key := range []string{hostKey, zoneKey, "own", "row", "disk"} {
				s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, soft(key, "b7")...)
			}
		},
	}
	for i, edit := range edits {
		at := make([]string, 1+rnd.Intn(20))
		for k := range at {
			at[k] = b.objects.Nodes[rnd.Intn(len(b.objects.Nodes))].Name
		}
		b.app(fmt.Sprint("b", i), 100, edit, at...)
	}
}

// variedProfile returns a profile that depends on the number.
func variedProfile(number int64) scheduler.Profile {
	p := scheduler.DefaultProfile()
	switch number % 9 {
	case 2:
		p.PercentageOfNodesToScore = 40
	case 3:
		p.Weights.ResourcesFit, p.Weights.BalancedAllocation, p.Weights.ImageLocality, p.Weights.InterPodAffinity = 3, 5, 2, 7
	case 4:
		p.Weights.PodTopologySpread, p.Weights.BalancedAllocation, p.HardPodAffinityWeight = 0, 0, 40
	case 5:
		p.FitStrategy.Type, p.BalancedResources = scheduler.MostAllocated, []corev1.ResourceName{"cpu", "example.com/gpu"}
	case 6:
		p.Weights.ResourcesFit, p.Weights.InterPodAffinity = 5_000_000, 100
	case 7:
		p.DisabledFilters = []scheduler.Filter{scheduler.NodeResourcesFit, scheduler.NodePorts}
	case 8:
		p.Weights = scheduler.Weights{TaintToleration: 1}
	}
	return p
}

// TestPredictionsEqualTheReference compares predictions with exhaustive ones on many clusters, server versions and
// profiles, while pods move and hints change.
func TestPredictionsEqualTheReference(t *testing.T) {
	seeds := int64(63)
	if testing.Short() {
		seeds = 18
	}
	states, sampled := 0, 0
	for seed := range seeds {
		rnd := rand.New(rand.NewSource(seed))
		b := newVariedCluster(seed, []int{3, 101, 130, 200, 320}[rnd.Intn(5)]+rnd.Intn(20))
		addRareFeatures(b, rnd)
		if seed%4 == 1 { // pods that wait for a node
			b.app("waits", 9000, nil, "", "")
			b.pod("waits-0").Status.NominatedNodeName, b.pod("waits-1").Status.NominatedNodeName = "n0000", "n0001"
		}
		if seed%5 == 2 { // two nodes with one host name
			b.objects.Nodes[1].Labels[hostKey] = b.objects.Nodes[0].Labels[hostKey]
		}
		if seed%7 == 3 { // too much memory for float numbers, and none
			b.objects.Nodes[0].Status.Allocatable["memory"], b.objects.Nodes[1].Status.Allocatable["memory"] = resource.MustParse("12Ti"), resource.MustParse("0")
		}
		b.objects.ServerVersion = fmt.Sprintf("1.%d", kubeversion.Oldest+rnd.Intn(kubeversion.Newest-kubeversion.Oldest+1))
		w := b.modelWithProfile(t, variedProfile(seed))
		for range 16 {
			pod := cluster.PodID(rnd.Intn(len(w.Cluster.Snap.Pods)))
			if rnd.Intn(2) == 0 {
				pod = podID(t, w, fmt.Sprintf("b%d-0", rnd.Intn(8)))
			}
			if near := w.Cluster.Snap.Nodes[0].Pods; seed%4 == 1 && len(near) > 0 && rnd.Intn(2) == 0 { // a pod waits for its node
				pod = near[rnd.Intn(len(near))]
			}
			sampled += compareWithReference(t, w, pod)
			states += 2
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
	if 4*sampled < states {
		t.Errorf("%d of %d states were sampled, want at least a quarter", sampled, states)
	}
}

// compareWithReference returns how many states of the victim were sampled.
func compareWithReference(t *testing.T, w *ClusterModel, pod cluster.PodID) (sampled int) {
	t.Helper()
	if _, ok := w.Supported(pod); !ok {
		return 0
	}
	got := w.Predict(pod)
	terminating, gone := referencePrediction(w, pod, w.randomSampleWeight)
	for _, x := range [...]struct {
		name      string
		got, want prediction.State
	}{{"terminating", got.Terminating, terminating}, {"gone", got.Gone, gone}} {
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
		if x.want.Odds != nil {
			sampled++
		}
	}
	return sampled
}
