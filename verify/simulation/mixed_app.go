package simulation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mixedApp is one workload of a Mixed cluster.
type mixedApp struct {
	ns, name string
	n        int32
	cpu      int64
	labels   map[string]string // the selector
	template corev1.PodTemplateSpec
	pods     []*corev1.Pod
	meta     []*metav1.ObjectMeta    // of its owners, from the lowest up
	owners   []metav1.OwnerReference // of its pods
}

func (m *mixedCluster) addPod(a *mixedApp, labels map[string]string, name string) *corev1.Pod {
	start := m.now.Add(-time.Duration(10+m.r.IntN(600)) * time.Minute)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: name, UID: types.UID(a.ns + "-" + name),
		Labels: maps.Clone(labels), Annotations: map[string]string{}, OwnerReferences: slices.Clone(a.owners)},
		Spec: *a.template.Spec.DeepCopy()}
	p.Spec.NodeName = m.pickNode(a.cpu)
	if p.Status = readyPod(start); p.Spec.NodeName == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	}
	a.pods = append(a.pods, p)
	m.o.Pods = append(m.o.Pods, p)
	return p
}

// addPods creates the pods of the workload.
func (m *mixedCluster) addPods(a *mixedApp, labels map[string]string, name string) {
	for i := range a.n {
		m.addPod(a, labels, fmt.Sprintf(name, i))
	}
}

// mixedCluster adds workloads to a Mixed cluster.
type mixedCluster struct {
	*mixedBase
	apps []*mixedApp
}
