package placement

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyWithSpreadWeight returns the default Policy with this weight of SelectorSpread.
func policyWithSpreadWeight(weight int64) scheduler.LegacyPolicy {
	p := scheduler.DefaultLegacyPolicy()
	p.Priorities[0].Weight = weight
	return p
}

// findOutcomes places the unbound pods one after the other, for every way to break ties, and
// collects the final pods per node.
func findOutcomes(t *testing.T, w *ClusterModel, pods []cluster.PodID, found map[string]bool) {
	t.Helper()
	if len(pods) == 0 {
		counts := make([]int, len(w.Cluster.Snap.Nodes))
		for i := range w.Cluster.Snap.Pods {
			p := &w.Cluster.Snap.Pods[i]
			if n := w.Cluster.NodeOf(p.ID); p.Object.Labels["app"] == "d" && n != cluster.NoNode {
				counts[n]++
			}
		}
		found[fmt.Sprint(counts)] = true
		return
	}
	pr := w.Predict(pods[0])
	if pr.UnsupportedReason != "" || len(pr.Gone.Winners) == 0 {
		t.Fatalf("the prediction has no winner: %+v", pr)
	}
	for _, n := range slices.Clone(pr.Gone.Winners) {
		w.Cluster.Move(pods[0], n)
		findOutcomes(t, w, pods[1:], found)
		w.Cluster.Move(pods[0], cluster.NoNode)
	}
}

// newClusterWithUnplacedD returns the seed scenario, in which the six pods of D are not placed yet.
func newClusterWithUnplacedD() *snapshotBuilder {
	b := newThreeZoneCluster(0, 0, 0)
	b.objects.ReplicaSets = b.objects.ReplicaSets[:3]
	b.objects.Services = b.objects.Services[:3]
	b.app("d", 1000, nil, "", "", "", "", "", "")
	b.service("d")
	return b
}

func podIDsOfD(t *testing.T, w *ClusterModel) (list []cluster.PodID) {
	t.Helper()
	for i := range 6 {
		list = append(list, podID(t, w, fmt.Sprintf("d-%d", i)))
	}
	return list
}

// TestWorkedPolicy places six pods of 10 % on zones with requests of 70, 70 and 10 %. With
// SelectorSpread weight 1 the result is usually 1/2/3 or 2/1/3. With weight 5 it is always 2/2/2.
func TestWorkedPolicy(t *testing.T) {
	for _, c := range []struct {
		weight int64
		want   []string
	}{{1, []string{"[1 2 3]", "[2 1 3]", "[2 2 2]"}}, {5, []string{"[2 2 2]"}}} {
		t.Run(fmt.Sprint("weight ", c.weight), func(t *testing.T) {
			w := newClusterWithUnplacedD().modelWithProfile(t, scheduler.LegacyProfile(policyWithSpreadWeight(c.weight)))
			found := map[string]bool{}
			findOutcomes(t, w, podIDsOfD(t, w), found)
			if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(found))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWorkedPolicyRollingUpdate replaces D, which starts at 1/2/3. The Deployment creates two new
// pods before it deletes an old one (maxSurge 25 %, rounded up). D ends at 1/1/4 with weight 1 and
// at 2/2/2 with weight 5, for every way to break ties. With pods replaced one by one, weight 1 can
// also end balanced.
func TestWorkedPolicyRollingUpdate(t *testing.T) {
	for _, c := range []struct {
		weight int64
		lag    int // new pods placed before the first old pod is deleted
		want   []string
	}{
		{1, 2, []string{"[1 1 4]"}},
		{5, 2, []string{"[2 2 2]"}},
		{1, 0, []string{"[1 2 3]", "[2 1 3]", "[2 2 2]"}},
		{5, 0, []string{"[2 2 2]"}},
	} {
		b := newThreeZoneCluster(0, 0, 0)
		b.objects.ReplicaSets, b.objects.Services = b.objects.ReplicaSets[:3], b.objects.Services[:3]
		b.app("new", 1000, nil, "", "", "", "", "", "")
		b.app("old", 1000, nil, "n1", "n2", "n2", "n3", "n3", "n3")
		for i := range 6 {
			b.pod(fmt.Sprintf("new-%d", i)).Labels = map[string]string{"app": "d", "rs": "new"}
			b.pod(fmt.Sprintf("old-%d", i)).Labels = map[string]string{"app": "d", "rs": "old"}
		}
		for _, rs := range b.objects.ReplicaSets[3:] {
			rs.Spec.Selector.MatchLabels = map[string]string{"app": "d", "rs": rs.Name}
		}
		b.service("d")
		w := b.modelWithProfile(t, scheduler.LegacyProfile(policyWithSpreadWeight(c.weight)))
		found := map[string]bool{}
		findRolloutOutcomes(t, w, 0, c.lag, found)
		if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(found))); diff != "" {
			t.Errorf("weight %d, lag %d: %s", c.weight, c.lag, diff)
		}
	}
}

// findRolloutOutcomes places the new pods one after the other, for every way to break ties. After
// each new pod except the first `lag` pods, an old pod is deleted. The final numbers of new pods
// per node are added to found.
func findRolloutOutcomes(t *testing.T, w *ClusterModel, i int, lag int, found map[string]bool) {
	t.Helper()
	if i == 6 {
		counts := make([]int, 3)
		for k := range 6 {
			counts[w.Cluster.NodeOf(podID(t, w, fmt.Sprintf("new-%d", k)))]++
		}
		found[fmt.Sprint(counts)] = true
		return
	}
	added := podID(t, w, fmt.Sprintf("new-%d", i))
	for _, n := range slices.Clone(w.Predict(added).Gone.Winners) {
		w.Cluster.Move(added, n)
		if i < lag {
			findRolloutOutcomes(t, w, i+1, lag, found)
		}
		for _, gone := range nextPodsToDelete(t, w) {
			if i < lag {
				break
			}
			stood := w.Cluster.NodeOf(gone)
			w.Cluster.Move(gone, cluster.NoNode)
			findRolloutOutcomes(t, w, i+1, lag, found)
			w.Cluster.Move(gone, stood)
		}
		w.Cluster.Move(added, cluster.NoNode)
	}
}

// nextPodsToDelete returns the old pods that the ReplicaSet may delete next: one pod from each of
// the nodes that tie for the most old pods.
func nextPodsToDelete(t *testing.T, w *ClusterModel) (list []cluster.PodID) {
	on := make([]cluster.PodID, 3)
	counts := make([]int, 3)
	for k := range 6 {
		p := podID(t, w, fmt.Sprintf("old-%d", k))
		if n := w.Cluster.NodeOf(p); n != cluster.NoNode {
			on[n] = p
			counts[n]++
		}
	}
	for n, k := range counts {
		if k > 0 && k == slices.Max(counts) {
			list = append(list, on[n])
		}
	}
	return list
}

// TestPolicyFunctions checks the scores of one function for nodes a, b and c after the victim x-0
// on a is gone. Nodes a and b are in zone za, c in zb. Node b has a pod of the same Service.
func TestPolicyFunctions(t *testing.T) {
	cases := []struct {
		name    string
		f       scheduler.PriorityFunction
		edit    func(*snapshotBuilder)
		a, b, c int64
	}{
		// The maxima are maxN = 1 and maxZ = 1, so a gets 10/3 + 0, b gets 0, and c gets 10/3 +
		// 20/3.
		{name: "selector spread", f: scheduler.PriorityFunction{Name: "SelectorSpreadPriority"}, a: 3, b: 0, c: 10},
		{name: "selector spread without a zone", f: scheduler.PriorityFunction{Name: "SelectorSpreadPriority"},
			edit: func(b *snapshotBuilder) { delete(b.objects.Nodes[0].Labels, zoneKey) }, a: 10, b: 0, c: 10},
		{name: "selector spread, terminating pods left out", f: scheduler.PriorityFunction{Name: "SelectorSpreadPriority"},
			edit: func(b *snapshotBuilder) { now := metav1.Unix(1, 0); b.pod("x-1").DeletionTimestamp = &now }, a: 10, b: 10, c: 10},
		{name: "selector spread, every selector must match", f: scheduler.PriorityFunction{Name: "SelectorSpreadPriority"},
			edit: func(b *snapshotBuilder) {
				b.app("y", 0, nil, "c")
				b.pod("y-0").Labels = map[string]string{"app": "x", "v": "2"}
				addServiceV1(b)
			}, a: 3, b: 0, c: 10},
		{name: "anti-affinity by zone", f: scheduler.PriorityFunction{Name: "zones", AntiAffinityLabel: zoneKey}, a: 0, b: 0, c: 10},
		{name: "anti-affinity by zone, three pods", f: scheduler.PriorityFunction{Name: "zones", AntiAffinityLabel: zoneKey},
			edit: func(b *snapshotBuilder) { b.app("y", 0, nil, "c", "c"); setAppLabel(b, "y-0", "y-1") }, a: 6, b: 6, c: 3},
		{name: "anti-affinity without the label", f: scheduler.PriorityFunction{Name: "racks", AntiAffinityLabel: "rack"}},
		{name: "anti-affinity without a service", f: scheduler.PriorityFunction{Name: "zones", AntiAffinityLabel: zoneKey},
			edit: func(b *snapshotBuilder) { b.objects.Services = nil }, a: 10, b: 10, c: 10},
		{name: "least requested", f: scheduler.PriorityFunction{Name: "LeastRequestedPriority"}, a: 9, b: 8, c: 9},
		{name: "least requested, cpu alone", f: scheduler.PriorityFunction{Name: "LeastRequestedPriority"},
			edit: func(b *snapshotBuilder) { b.app("y", 0, cpuOnly("4"), "c") }, a: 9, b: 8, c: 6}, // (5 + 8) / 2
		{name: "most requested", f: scheduler.PriorityFunction{Name: "MostRequestedPriority"}, a: 1, b: 2, c: 1},
		{name: "balanced", f: scheduler.PriorityFunction{Name: "BalancedResourceAllocation"},
			edit: func(b *snapshotBuilder) { b.app("y", 0, cpuOnly("4"), "c") }, a: 10, b: 10, c: 6}, // 1 - |.5 - .12|
		{name: "balanced but full", f: scheduler.PriorityFunction{Name: "BalancedResourceAllocation"},
			edit: func(b *snapshotBuilder) { b.app("y", 9000, nil, "c") }, a: 10, b: 10, c: 0},
		{name: "prefer to avoid", f: scheduler.PriorityFunction{Name: "NodePreferAvoidPodsPriority"}, edit: func(b *snapshotBuilder) {
			b.objects.Nodes[1].Annotations = map[string]string{corev1.PreferAvoidPodsAnnotationKey: `{"preferAvoidPods":[{"podSignature":{"podController":{"kind":"ReplicaSet","uid":"rs-x"}}}]}`}
			b.objects.Nodes[2].Annotations = map[string]string{corev1.PreferAvoidPodsAnnotationKey: `{"preferAvoidPods":[{"podSignature":{"podController":{"kind":"ReplicaSet","uid":"other"}}}]}`}
		}, a: 10, b: 0, c: 10},
		{name: "taints", f: scheduler.PriorityFunction{Name: "TaintTolerationPriority"}, edit: func(b *snapshotBuilder) {
			for range 3 {
				withTaint(corev1.TaintEffectPreferNoSchedule)(b.objects.Nodes[1])
			}
			withTaint(corev1.TaintEffectPreferNoSchedule)(b.objects.Nodes[2])
		}, a: 10, b: 0, c: 7}, // 10 - 10/3
		{name: "node affinity", f: scheduler.PriorityFunction{Name: "NodeAffinityPriority"}, edit: func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 30, Preference: requireLabelIn(zoneKey, "za")}, {Weight: 10, Preference: requireLabelIn(hostKey, "b")}}}}
		}, a: 7, b: 10, c: 0},
		{name: "inter-pod affinity", f: scheduler.PriorityFunction{Name: "InterPodAffinityPriority"}, edit: func(b *snapshotBuilder) {
			b.app("y", 0, nil, "c")
			b.pod("x-0").Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 5, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: zoneKey, LabelSelector: appSelector("y")}},
				{Weight: 2, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: appSelector("x")}}}}}
		}, a: 0, b: 4, c: 10},
		{name: "a preferred label", f: scheduler.PriorityFunction{Name: "ssd", PreferLabel: "ssd"}, edit: func(b *snapshotBuilder) { b.objects.Nodes[1].Labels["ssd"] = "" }, b: 10},
		{name: "a label to avoid", f: scheduler.PriorityFunction{Name: "ssd", PreferLabel: "ssd", PreferAbsent: true},
			edit: func(b *snapshotBuilder) { b.objects.Nodes[1].Labels["ssd"] = "" }, a: 10, c: 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			b.node("b", "za")
			b.node("c", "zb")
			b.app("x", 1000, nil, "a", "b")
			b.service("x")
			if c.edit != nil {
				c.edit(b)
			}
			c.f.Weight = 3
			w := b.modelWithProfile(t, scheduler.LegacyProfile(scheduler.LegacyPolicy{Priorities: []scheduler.PriorityFunction{c.f}, HardPodAffinityWeight: 1}))
			for node, want := range map[string]int64{"a": c.a, "b": c.b, "c": c.c} {
				v := explainNode(t, w, "x-0", node, true)
				if got := scoreOf(t, v, c.f.Name); got != want || v.Total != 3*want {
					t.Errorf("%s: score %d, total %d; want score %d and three times that as total", node, got, v.Total, want)
				}
			}
		})
	}
}

func addServiceV1(b *snapshotBuilder) {
	b.objects.Services = append(b.objects.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "v1"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"v": "1"}}})
	for _, name := range []string{"x-0", "x-1"} {
		b.pod(name).Labels = map[string]string{"app": "x", "v": "1"}
	}
}

func setAppLabel(b *snapshotBuilder, pods ...string) {
	for _, name := range pods {
		b.pod(name).Labels = map[string]string{"app": "x"}
	}
}

// TestPolicyThatIsNotKnown checks that UnsupportedReason names the unknown priority function.
func TestPolicyThatIsNotKnown(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 1000, nil, "a")
	w := b.modelWithProfile(t, scheduler.LegacyProfile(scheduler.LegacyPolicy{Priorities: []scheduler.PriorityFunction{{Name: "EqualPriority", Weight: 1}, {Name: "ResourceLimitsPriority", Weight: 1}}}))
	why, ok := w.Supported(podID(t, w, "x-0"))
	if want := `it is scheduled by "default-scheduler": its priority function ResourceLimitsPriority is not supported`; ok || why != want {
		t.Errorf("%q, want %q", why, want)
	}
}
