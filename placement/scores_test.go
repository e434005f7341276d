package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestScores puts a pod of app x on node a and checks the scores of nodes a and b after the victim
// is gone.
func TestScores(t *testing.T) {
	prefer := func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 10, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"zb"}}}}}}}}
	}
	avoid := func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 5, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: appSelector("y")}}}}}
	}
	image := func(n *corev1.Node) {
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example/x:1"}, SizeBytes: 1023 << 20}}
	}
	cases := []struct {
		name, plugin string
		milliCPU     int64
		node         func(*corev1.Node)
		spec         func(*corev1.PodSpec)
		also         func(*snapshotBuilder)
		a, b         int64
	}{
		{name: "a disliked taint", plugin: "TaintToleration", node: withTaint(corev1.TaintEffectPreferNoSchedule), a: 100, b: 0},
		{name: "no taints", plugin: "TaintToleration", a: 100, b: 100},
		{name: "preferred node", plugin: "NodeAffinity", spec: prefer, a: 0, b: 100},
		{name: "no preference", plugin: "NodeAffinity"},
		{name: "default spread", plugin: "PodTopologySpread", also: func(b *snapshotBuilder) { b.app("z", 0, nil, "b"); b.pod("z-0").Labels = map[string]string{"app": "x"} }, a: 100, b: 66},
		{name: "avoided pod", plugin: "InterPodAffinity", spec: avoid, also: func(b *snapshotBuilder) { b.app("y", 0, nil, "b") }, a: 100, b: 0},
		{name: "a standing pod wants it", plugin: "InterPodAffinity", also: func(b *snapshotBuilder) {
			b.app("y", 0, func(s *corev1.PodSpec) { s.Affinity = affinityTo("x", hostKey) }, "b")
		}, a: 0, b: 100},
		{name: "free share", plugin: "NodeResourcesFit", milliCPU: 1000, also: func(b *snapshotBuilder) { b.app("y", 2000, nil, "b") }, a: 90, b: 70},
		{name: "assumed requests", plugin: "NodeResourcesFit", a: 98, b: 98}, // 100m and 200Mi: 99 and 98
		{name: "no requests, no balance", plugin: "NodeResourcesBalancedAllocation"},
		{name: "neutral balance", plugin: "NodeResourcesBalancedAllocation", milliCPU: 1000, a: 75, b: 75},
		{name: "image on half the nodes", plugin: "ImageLocality", node: image, a: 0, b: 50}, // 511.5 - 23 of 977 MiB
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			if c.node == nil {
				c.node = func(*corev1.Node) {}
			}
			b.node("b", "zb", c.node)
			b.app("x", c.milliCPU, c.spec, "a")
			if c.also != nil {
				c.also(b)
			}
			w := b.model(t)
			gotA := scoreOf(t, explainNode(t, w, "x-0", "a", true), c.plugin)
			gotB := scoreOf(t, explainNode(t, w, "x-0", "b", true), c.plugin)
			if gotA != c.a || gotB != c.b {
				t.Errorf("score of a %d, of b %d; want %d and %d", gotA, gotB, c.a, c.b)
			}
		})
	}
}

// TestImageScoresAreSharedByImages checks that classes with the same images share one slice.
func TestImageScoresAreSharedByImages(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("n1", "", func(n *corev1.Node) {
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"shared:1", "other:1"}, SizeBytes: 500 << 20}}
	})
	for app, image := range map[string]string{"a": "shared:1", "b": "shared:1", "c": "other:1"} {
		b.app(app, 100, func(s *corev1.PodSpec) { s.Containers[0].Image = image }, "n1")
	}
	w := b.model(t)
	images := func(pod string) []int8 { return w.replacementOf(podID(t, w, pod)).StaticScores.Images }
	a, same, other := images("a-0"), images("b-0"), images("c-0")
	if &a[0] != &same[0] || &a[0] == &other[0] {
		t.Error("classes with the same images do not share their image scores")
	}
	if a[0] != 48 { // 100 x (500 - 23) / (1000 - 23): every node has the image
		t.Errorf("the image scores %d, want 48", a[0])
	}
}
