package model

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestClassesIgnoreCopiedLabels has the six pods of a ReplicaSet in three zones. Since Kubernetes 1.35, each of them
// has the zone of its node as a label. The pods have one template and one class, except if a selector reads that label.
func TestClassesIgnoreCopiedLabels(t *testing.T) {
	zone := map[string]string{corev1.LabelTopologyZone: "z1"}
	reads := &metav1.LabelSelector{MatchLabels: zone}
	for name, c := range map[string]struct {
		change  func(*corev1.PodSpec)
		service map[string]string
		owner   *metav1.LabelSelector
		classes int
	}{
		"no selector": {classes: 1},
		"a spread constraint on the zone": {change: func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		}, classes: 1},
		"a spread constraint that selects a zone": {change: func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelHostname, LabelSelector: reads}}
		}, classes: 3},
		"matchLabelKeys": {change: func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelHostname,
				MatchLabelKeys: []string{corev1.LabelTopologyRegion}}}
		}, classes: 3},
		"anti-affinity": {change: func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: metav1.LabelSelectorOpExists}}}}}}}}
		}, classes: 3},
		"a Service of one zone":    {service: zone, classes: 3},
		"a ReplicaSet of one zone": {owner: reads, classes: 3},
	} {
		t.Run(name, func(t *testing.T) {
			o := &cluster.Objects{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
				Services: []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.ServiceSpec{Selector: c.service}}}}
			if c.owner != nil {
				o.ReplicaSets = []*appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}, Spec: appsv1.ReplicaSetSpec{Selector: c.owner}}}
			}
			for i := range 6 {
				node := fmt.Sprint("n", i)
				where := map[string]string{corev1.LabelTopologyZone: fmt.Sprint("z", i%3), corev1.LabelTopologyRegion: "r"}
				o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: where}})
				yes := true
				p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", i),
					Labels:          map[string]string{"app": "web", corev1.LabelTopologyZone: where[corev1.LabelTopologyZone], corev1.LabelTopologyRegion: "r"},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}},
					Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web"}}}}
				if c.change != nil {
					c.change(&p.Spec)
				}
				o.Pods = append(o.Pods, p)
			}
			s := must.Get(cluster.New(o))(t)
			m := NewCluster(s, nil)
			if got := len(m.ClassList); got != c.classes {
				t.Errorf("%d classes, want %d", got, c.classes)
			}
			if c.classes == 1 && (!s.Pods[0].HasTemplateOf(&s.Pods[5]) || len(m.ClassList[0].Labels) != 1) {
				t.Errorf("the pods differ by template, or their class has the labels %v", m.ClassList[0].Labels)
			}
		})
	}
}

// TestRequiredTermsAreNotPreferredOnes: a required term and a preferred one of weight 1 select the same pods, but a
// profile weighs required terms as it likes.
func TestRequiredTermsAreNotPreferredOnes(t *testing.T) {
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}}
	for i, a := range []*corev1.PodAffinity{{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}},
		{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}}} {
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("p", i)},
			Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}, Affinity: &corev1.Affinity{PodAffinity: a}}})
	}
	if m := NewCluster(must.Get(cluster.New(o))(t), nil); len(m.ScoredTerms) != 2 {
		t.Errorf("%d scored terms, want 2", len(m.ScoredTerms))
	}
}

// TestUsageWithoutATime: a measurement without a time is unknown, and does not make others old.
func TestUsageWithoutATime(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	o := &cluster.Objects{Usage: &cluster.Usage{APIVersion: "evenkeel.io/v1alpha1", Kind: "Usage"}}
	for i, measured := range []time.Time{at, {}} {
		name := fmt.Sprint("n", i)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": resource.MustParse("4")}}})
		o.Usage.Nodes = append(o.Usage.Nodes, cluster.NodeUsage{Name: name, At: measured, Used: map[string]int64{"cpu": 100}})
	}
	k := newPacking(must.Get(cluster.New(o))(t))
	if !k.HasMeasurements || !k.Nodes[0].Measured || !k.Nodes[0].measuredUntil.Equal(at) || k.Nodes[1].Measured {
		t.Errorf("measurements %+v, want one of n0 until %s", k.Nodes, at)
	}
	o.Usage.Nodes = o.Usage.Nodes[1:]
	if k := newPacking(must.Get(cluster.New(o))(t)); k.HasMeasurements {
		t.Errorf("measurements %+v, want none", k.Nodes)
	}
	o.Usage, o.NodeMetrics = nil, []*metricsv1beta1.NodeMetrics{{ObjectMeta: metav1.ObjectMeta{Name: "n0"}, Usage: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	if k := newPacking(must.Get(cluster.New(o))(t)); k.HasMeasurements {
		t.Errorf("NodeMetrics: measurements %+v, want none", k.Nodes)
	}
}
