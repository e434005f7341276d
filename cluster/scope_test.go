package cluster_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestScopeHasPod lists the pods about which a strategy may state goals.
func TestScopeHasPod(t *testing.T) {
	pods := labels.SelectorFromSet(labels.Set{"tier": "web"})
	all := cluster.Scope{}
	for name, c := range map[string]struct {
		scope  cluster.Scope
		change func(*corev1.Pod)
		want   bool
	}{
		"a running pod":              {all, func(*corev1.Pod) {}, true},
		"an unbound pod":             {all, func(p *corev1.Pod) { p.Spec.NodeName = "" }, false},
		"an unknown node":            {all, func(p *corev1.Pod) { p.Spec.NodeName = "n9" }, false},
		"an ended pod":               {all, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		"a terminating pod":          {all, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, false},
		"a mirror pod":               {all, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }, false},
		"a pod of a DaemonSet":       {all, func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }, false},
		"a static pod":               {all, func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Node" }, false},
		"a bare pod":                 {all, func(p *corev1.Pod) { p.OwnerReferences = nil }, true},
		"a node out of scope":        {cluster.Scope{Nodes: labels.SelectorFromSet(labels.Set{"pool": "b"})}, func(*corev1.Pod) {}, false},
		"a virtual node":             {all, func(p *corev1.Pod) { p.Spec.NodeName = "virtual" }, false},
		"a namespace out of scope":   {cluster.Scope{Exclude: []string{"shop"}}, func(*corev1.Pod) {}, false},
		"a pod that is selected":     {cluster.Scope{Pods: pods}, func(p *corev1.Pod) { p.Labels = map[string]string{"tier": "web"} }, true},
		"a pod that is not selected": {cluster.Scope{Pods: pods}, func(*corev1.Pod) {}, false},
	} {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "1", Controller: new(true)}}},
			Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		c.change(p)
		virtual := map[string]string{"type": "virtual-kubelet"}
		s, err := cluster.New(&cluster.Objects{Pods: []*corev1.Pod{p}, Nodes: []*corev1.Node{
			{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, {ObjectMeta: metav1.ObjectMeta{Name: "virtual", Labels: virtual}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.scope.HasPod(s, &s.Pods[0]); got != c.want {
			t.Errorf("%s: HasPod returns %v, want %v", name, got, c.want)
		}
	}
}

// TestHintMarks removes the hints of Evenkeel from a node, and nothing else.
func TestHintMarks(t *testing.T) {
	h := cluster.HintMarks{Labels: []string{"status=presure", "evenkeel.io/steer=avoid"}, Taints: []string{"evenkeel.io/pressure"}}
	own := corev1.Taint{Key: "evenkeel.io/pressure", Effect: corev1.TaintEffectPreferNoSchedule}
	foreign := corev1.Taint{Key: "evenkeel.io/pressure", Effect: corev1.TaintEffectNoSchedule}
	hinted := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"status": "presure", "evenkeel.io/steer": "other", "pool": "a"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{own, foreign}},
	}
	before := hinted.DeepCopy()
	got := h.Without(hinted)
	if len(got.Labels) != 2 || got.Labels["pool"] != "a" || got.Labels["evenkeel.io/steer"] != "other" {
		t.Errorf("got the labels %v, want pool and the label of another owner", got.Labels)
	}
	if !slices.Equal(got.Spec.Taints, []corev1.Taint{foreign}) {
		t.Errorf("got the taints %v, want the one with another effect", got.Spec.Taints)
	}
	if len(hinted.Labels) != len(before.Labels) || len(hinted.Spec.Taints) != len(before.Spec.Taints) {
		t.Error("Without changed its argument")
	}
	if again := h.Without(got); again != got {
		t.Error("a node without hints was copied")
	}
}
