package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEvictionOrderOf(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for _, c := range []struct {
		name string
		edit func(*corev1.Pod)
		want EvictionOrder
	}{
		{"nothing is set", func(*corev1.Pod) {}, EvictionOrder{}},
		{"priority", func(p *corev1.Pod) { n := int32(-7); p.Spec.Priority = &n }, EvictionOrder{Priority: -7}},
		{"deletion cost", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "-3"} }, EvictionOrder{DeletionCost: -3}},
		{"unreadable deletion cost", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "x"} }, EvictionOrder{}},
		{"requests only", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("1", "1Gi") }, EvictionOrder{QoS: 1}},
		{"limits", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = amounts("1", "1Gi") }, EvictionOrder{QoS: 2}},
		{"a second container without limits", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = amounts("1", "1Gi")
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{})
		}, EvictionOrder{QoS: 1}},
		{"the class in the status", func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSGuaranteed }, EvictionOrder{QoS: 2}},
		{"100 seconds old", func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: now.Add(-100 * time.Second)} }, EvictionOrder{Age: 7}},
		{"a start in the future", func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: now.Add(time.Hour)} }, EvictionOrder{}},
	} {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}
		c.edit(p)
		if got := EvictionOrderOf(&Pod{Object: p}, now); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
