package guard_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// TestPodsWithForgedOwners: the first pod names the UID of the owner of the second, but is of another namespace, or
// gives the owner another name. What protects the second must not depend on it.
func TestPodsWithForgedOwners(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	old := metav1.NewTime(now.Add(-time.Hour))
	pod := func(ns, name, owner string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(ns + name), CreationTimestamp: old,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: owner, UID: "set", Controller: new(true)}}},
			Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &old, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
	}
	failed := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "e"}, Reason: cluster.FailedCreate, LastTimestamp: metav1.NewTime(now.Add(-time.Minute)),
		InvolvedObject: corev1.ObjectReference{Namespace: "shop", Kind: "StatefulSet", Name: "web", UID: "set"}}
	for name, x := range map[string]struct {
		first   *corev1.Pod
		request string // of the namespace shop
		events  []*corev1.Event
	}{
		"of another namespace": {first: pod("a", "x", "web"), request: "never"},
		"with another name":    {first: pod("shop", "a", "other"), events: []*corev1.Event{failed}},
	} {
		o := &cluster.Objects{TakenAt: now, ServerVersion: "1.37", Pods: []*corev1.Pod{x.first, pod("shop", "web-1", "web")}, Events: x.events,
			Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}},
			Namespaces:   []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
			StatefulSets: []*appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "set"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2))}}}}
		if x.request != "" {
			o.Namespaces[1].Annotations = map[string]string{annotation.Evict: x.request}
		}
		for kind, s := range map[string]*cluster.Snapshot{"New": must.Get(cluster.New(o))(t),
			"Indexer": must.Get((&cluster.Indexer{IsMarked: annotation.IsMarked}).New(o))(t)} {
			opts, shared := guard.DefaultOptions(), guard.NewCache()
			for i := range s.Pods {
				p := &s.Pods[i]
				in := guard.Input{Snapshot: s, Pod: p, Now: now, Options: &opts, Cache: shared}
				got, refused := guard.Check(in)
				in.Cache = guard.NewCache()
				if want, alone := guard.Check(in); refused != alone || got.Code != want.Code {
					t.Errorf("%s, %s: %s/%s is refused with %q after the first, and with %q alone", name, kind, p.Object.Namespace, p.Object.Name, got.Code, want.Code)
				}
			}
		}
	}
}
