package guard

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestRequiredByAffinity uses two workloads with the same podAffinity term. The pods of
// workload cache match the term, the pods of workload web do not.
func TestRequiredByAffinity(t *testing.T) {
	near := func(space *metav1.LabelSelector) *corev1.Affinity {
		return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}}, NamespaceSelector: space, TopologyKey: "host"}}}}
	}
	pod := func(ns, app, node string, a *corev1.Affinity) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: app + "-" + node, UID: types.UID(ns + app + node), Labels: map[string]string{"app": app}},
			Spec: corev1.PodSpec{NodeName: node, Affinity: a}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	}
	red := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	edited := func(p *corev1.Pod, edit func(p *corev1.Pod, t *corev1.PodAffinityTerm)) *corev1.Pod {
		var t *corev1.PodAffinityTerm
		if p.Spec.Affinity != nil {
			t = &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		}
		edit(p, t)
		return p
	}
	second := func(edit func(p *corev1.Pod, t *corev1.PodAffinityTerm)) []*corev1.Pod {
		other := pod("shop", "cache", "n1", nil)
		other.Name, other.UID = "other", "other"
		return []*corev1.Pod{pod("shop", "web", "n1", near(nil)), edited(other, edit)}
	}
	for name, c := range map[string]struct {
		beside []*corev1.Pod
		says   string // the start of the message; "" if no pod requires the pod
	}{
		"no other pod":            {nil, ""},
		"a pod requires it":       {[]*corev1.Pod{pod("shop", "web", "n1", near(nil))}, "shop/web-n1 on n1 requires the pod"},
		"another pod matches":     {[]*corev1.Pod{pod("shop", "web", "n1", near(nil)), func() *corev1.Pod { p := pod("shop", "cache", "n1", nil); p.Name, p.UID = "other", "other"; return p }()}, ""},
		"another topology domain": {[]*corev1.Pod{pod("shop", "web", "n2", near(nil))}, ""},
		"another namespace":       {[]*corev1.Pod{pod("bank", "web", "n1", near(nil))}, ""},
		"a namespaceSelector":     {[]*corev1.Pod{pod("bank", "web", "n1", near(red))}, "bank/web-n1 on n1 requires the pod"},
		"an invalid labelSelector": {[]*corev1.Pod{edited(pod("shop", "web", "n1", near(nil)),
			func(_ *corev1.Pod, t *corev1.PodAffinityTerm) { t.LabelSelector = invalid })}, ""},
		"an invalid namespaceSelector": {[]*corev1.Pod{pod("shop", "web", "n1", near(invalid))}, ""},
		"an invalid namespaceSelector beside a namespace": {[]*corev1.Pod{edited(pod("bank", "web", "n1", near(invalid)),
			func(_ *corev1.Pod, t *corev1.PodAffinityTerm) { t.Namespaces = []string{"shop"} })}, ""},
		"a list of namespaces": {[]*corev1.Pod{edited(pod("bank", "web", "n1", near(nil)),
			func(_ *corev1.Pod, t *corev1.PodAffinityTerm) { t.Namespaces = []string{"shop"} })}, "bank/web-n1 on n1 requires the pod"},
		"a list of other namespaces": {[]*corev1.Pod{edited(pod("shop", "web", "n1", near(nil)),
			func(_ *corev1.Pod, t *corev1.PodAffinityTerm) { t.Namespaces = []string{"bank"} })}, ""},
		"a namespaceSelector without the own namespace": {[]*corev1.Pod{pod("shop", "web", "n1",
			near(&metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}))}, ""},
		"the other match terminates": {second(func(p *corev1.Pod, _ *corev1.PodAffinityTerm) { p.DeletionTimestamp = &metav1.Time{} }),
			"shop/web-n1 on n1 requires the pod"},
		"the other match has ended": {second(func(p *corev1.Pod, _ *corev1.PodAffinityTerm) { p.Status.Phase = corev1.PodSucceeded }),
			"shop/web-n1 on n1 requires the pod"},
		"the other pod terminates": {[]*corev1.Pod{edited(pod("shop", "web", "n1", near(nil)),
			func(p *corev1.Pod, _ *corev1.PodAffinityTerm) { p.DeletionTimestamp = &metav1.Time{} })}, ""},
		"the other pod has ended": {[]*corev1.Pod{edited(pod("shop", "web", "n1", near(nil)),
			func(p *corev1.Pod, _ *corev1.PodAffinityTerm) { p.Status.Phase = corev1.PodFailed })}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := &cluster.Objects{Pods: append([]*corev1.Pod{pod("shop", "cache", "n1", near(nil))}, c.beside...)}
			for _, n := range []string{"n1", "n2"} {
				o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{"host": n}}})
			}
			o.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "red"}}}, {ObjectMeta: metav1.ObjectMeta{Name: "bank"}}}
			s := must.Get(cluster.New(o))(t)
			why, refused := requiredByAffinity.Check(Input{Snapshot: s, Pod: s.PodByUID("shopcachen1"), Cache: NewCache(), Options: &Options{Protect: map[Protection]bool{ProtectRequired: true}}})
			if refused != (c.says != "") || !strings.HasPrefix(why, c.says) {
				t.Errorf("refused %v with message %q, want %q", refused, why, c.says)
			}
		})
	}
}
