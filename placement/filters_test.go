package placement

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func appSelector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func affinityTo(app, key string) *corev1.Affinity {
	return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: key, LabelSelector: appSelector(app)}}}}
}

func antiAffinityTo(app, key string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: key, LabelSelector: appSelector(app)}}}}
}

func withTaint(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "k", Value: "v", Effect: effect})
	}
}

func cordon(n *corev1.Node) { n.Spec.Unschedulable = true }

// TestFilters puts a pod of app x on node a and checks which filter rejects node b.
func TestFilters(t *testing.T) {
	tolerate := func(key string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
		}
	}
	hard := func(skew int32) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: skew, TopologyKey: zoneKey,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("x")}}
		}
	}
	numberTaint := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "sla", Value: "950", Effect: corev1.TaintEffectNoSchedule}}
	}
	compare := func(op corev1.TolerationOperator) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "sla", Operator: op, Value: "900"}}
		}
	}
	with := func(a *corev1.Affinity) func(*corev1.PodSpec) { return func(s *corev1.PodSpec) { s.Affinity = a } }
	cases := []struct {
		name string
		node func(*corev1.Node)
		spec func(*corev1.PodSpec)
		also func(*snapshotBuilder)
		want scheduler.Filter
	}{
		{name: "an empty node takes it"},
		{name: "not ready", node: func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, want: scheduler.NodeNotReady},
		{name: "cordoned", node: cordon, want: scheduler.NodeUnschedulable},
		{name: "cordoned but tolerated", node: cordon, spec: tolerate(corev1.TaintNodeUnschedulable)},
		{name: "a number above that of the toleration", node: numberTaint, spec: compare(corev1.TolerationOpGt)},
		{name: "a number that is not below that of the toleration", node: numberTaint, spec: compare(corev1.TolerationOpLt),
			want: scheduler.TaintToleration},
		{name: "NoSchedule", node: withTaint(corev1.TaintEffectNoSchedule), want: scheduler.TaintToleration},
		{name: "NoExecute", node: withTaint(corev1.TaintEffectNoExecute), want: scheduler.TaintToleration},
		{name: "PreferNoSchedule refuses nobody", node: withTaint(corev1.TaintEffectPreferNoSchedule)},
		{name: "tolerated taint", node: withTaint(corev1.TaintEffectNoSchedule), spec: tolerate("k")},
		{name: "node selector", spec: func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{zoneKey: "za"} }, want: scheduler.NodeAffinity},
		{name: "full of cpu", also: func(b *snapshotBuilder) { b.app("y", 9500, nil, "b") }, want: scheduler.NodeResourcesFit},
		{name: "exactly full", also: func(b *snapshotBuilder) { b.app("y", 9000, nil, "b") }},
		{name: "room for no more pods", node: func(n *corev1.Node) { n.Status.Allocatable["pods"] = resource.MustParse("0") }, want: scheduler.NodeResourcesFit},
		{name: "lacks an extended resource", spec: func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
		}, want: scheduler.NodeResourcesFit},
		{name: "spread within the skew", spec: hard(1)},
		{name: "spread beyond the skew", spec: hard(1), also: func(b *snapshotBuilder) {
			b.app("x2", 0, nil, "b")
			b.pod("x2-0").Labels = map[string]string{"app": "x"}
		}, want: scheduler.PodTopologySpread},
		{name: "spread without the label", node: func(n *corev1.Node) { delete(n.Labels, zoneKey) }, spec: hard(1), want: scheduler.PodTopologySpread},
		{name: "affinity to a pod elsewhere", spec: with(affinityTo("y", hostKey)), also: func(b *snapshotBuilder) { b.app("y", 0, nil, "a") }, want: scheduler.InterPodAffinity},
		{name: "affinity to a pod there", spec: with(affinityTo("y", hostKey)), also: func(b *snapshotBuilder) { b.app("y", 0, nil, "b") }},
		{name: "affinity to nobody", spec: with(affinityTo("y", hostKey)), want: scheduler.InterPodAffinity},
		{name: "anti-affinity to a pod there", spec: with(antiAffinityTo("y", hostKey)), also: func(b *snapshotBuilder) { b.app("y", 0, nil, "b") }, want: scheduler.InterPodAffinity},
		{name: "anti-affinity to a pod elsewhere", spec: with(antiAffinityTo("y", hostKey)), also: func(b *snapshotBuilder) { b.app("y", 0, nil, "a") }},
		{name: "a standing pod's anti-affinity", also: func(b *snapshotBuilder) { b.app("y", 0, with(antiAffinityTo("x", zoneKey)), "b") }, want: scheduler.InterPodAffinity},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			if c.node == nil {
				c.node = func(*corev1.Node) {}
			}
			b.node("b", "zb", c.node)
			b.app("x", 1000, c.spec, "a")
			if c.also != nil {
				c.also(b)
			}
			v := explainNode(t, b.model(t), "x-0", "b", true)
			if v.RefusedBy != c.want || (v.Why == "") != (c.want == "") {
				t.Errorf("refused by %q (%s), want %q", v.RefusedBy, v.Why, c.want)
			}
		})
	}
}

// TestAffinityToItsOwnKind checks that a pod that matches its own affinity may run on any node if
// no other pod matches. While the victim terminates, the replacement must run in the victim's zone.
func TestAffinityToItsOwnKind(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("x", 100, func(s *corev1.PodSpec) { s.Affinity = affinityTo("x", zoneKey) }, "a")
	m := b.model(t)
	p := m.Predict(podID(t, m, "x-0"))
	if got := nodeNames(m, p.Terminating.Feasible); got != "a" {
		t.Errorf("terminating: %q, want a", got)
	}
	if got := nodeNames(m, p.Gone.Feasible); got != "a b" {
		t.Errorf("gone: %q, want a b", got)
	}
}

// TestTerminatingVictim: a terminating victim still counts for anti-affinity and resources, but not
// for topology spread.
func TestTerminatingVictim(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("x", 100, func(s *corev1.PodSpec) { s.Affinity = antiAffinityTo("x", hostKey) }, "a")
	b.app("big", 6000, nil, "b")
	b.app("even", 100, func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("even")}}
	}, "a")
	m := b.model(t)
	for _, c := range []struct{ pod, terminating, gone string }{
		{"x-0", "b", "a b"}, {"big-0", "a", "a b"}, {"even-0", "a b", "a b"},
	} {
		p := m.Predict(podID(t, m, c.pod))
		if got := nodeNames(m, p.Terminating.Feasible); got != c.terminating {
			t.Errorf("%s terminating: %q, want %q", c.pod, got, c.terminating)
		}
		if got := nodeNames(m, p.Gone.Feasible); got != c.gone {
			t.Errorf("%s gone: %q, want %q", c.pod, got, c.gone)
		}
	}
}

func TestPendingWhenNothingIsFeasible(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 6000, nil, "a") // its replacement fits only when it is gone
	m := b.model(t)
	p := m.Predict(podID(t, m, "x-0"))
	if p.Pending() != 0.9 || p.LikeliestOf(anyNode) != nodeID(t, m, "a") {
		t.Errorf("pending %v, likeliest %v; want 0.9 and a", p.Pending(), p.LikeliestOf(anyNode))
	}
	m.Cluster.Move(podID(t, m, "x-0"), cluster.NoNode)
	b.objects.Nodes[0].Spec.Unschedulable = true
	m = b.model(t)
	p = m.Predict(podID(t, m, "x-0"))
	if p.Pending() != 1 || p.LikeliestOf(anyNode) != cluster.NoNode {
		t.Errorf("pending %v, likeliest %v; want certain", p.Pending(), p.LikeliestOf(anyNode))
	}
}

func TestMinDomainsCountsMissingDomainsAsEmpty(t *testing.T) {
	for min, want := range map[int32]string{2: "a b", 3: ""} {
		b := newSnapshotBuilder()
		b.node("a", "za")
		b.node("b", "zb")
		b.app("x", 100, func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey, MinDomains: &min,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("x")}}
		}, "a", "b", "a")
		m := b.model(t)
		if got := nodeNames(m, m.Predict(podID(t, m, "x-2")).Gone.Feasible); got != want {
			t.Errorf("minDomains %d: %q, want %q", min, got, want)
		}
	}
}
