package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// snapshotApp is a Deployment of a snapshot, whose pods request half a CPU and half a GiB each.
type snapshotApp struct {
	namespace, name string
	labels          map[string]string
	nodes           []int // of each pod
}

// snapshotTime is that of all snapshots; their objects are a day older.
var snapshotTime = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// snapshotFile writes a snapshot and returns its path. Node i, of 10 CPU and 10Gi, is in zone i modulo 3.
func snapshotFile(t *testing.T, nodes []string, apps []snapshotApp) string {
	t.Helper()
	var items []any
	for i, name := range nodes {
		has := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("10Gi"), "pods": resource.MustParse("110")}
		n := corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: snapshotMeta("", name, map[string]string{
			"topology.kubernetes.io/zone": fmt.Sprint("zone-", i%3+1), "kubernetes.io/hostname": name})}
		n.Status = corev1.NodeStatus{Allocatable: has, Capacity: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}}}
		items = append(items, n)
	}
	namespaces := map[string]bool{}
	for _, a := range apps {
		if !namespaces[a.namespace] {
			namespaces[a.namespace] = true
			items = append(items, corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: snapshotMeta("", a.namespace, nil)})
		}
		items = append(items, a.objects(nodes)...)
	}
	file := filepath.Join(t.TempDir(), "snapshot.json")
	must.Succeed(t, os.WriteFile(file, must.Get(json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items,
		"metadata": map[string]any{"annotations": map[string]string{"evenkeel.io/taken-at": snapshotTime.Format(time.RFC3339),
			"evenkeel.io/server-version": "1.37", "evenkeel.io/kinds-listed": "v1 LimitRange"}}}))(t), 0o600))
	return file
}

func snapshotMeta(ns, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels, UID: types.UID("u-" + ns + "-" + name),
		CreationTimestamp: metav1.NewTime(snapshotTime.AddDate(0, 0, -1))}
}

// objects returns the Deployment, its ReplicaSet and its pods.
func (a snapshotApp) objects(nodes []string) (items []any) {
	yes, replicas, grace := true, int32(len(a.nodes)), int64(30)
	labels := map[string]string{"app": "a"}
	for k, v := range a.labels {
		labels[k] = v
	}
	owner := func(kind, name string, uid types.UID) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: &yes, BlockOwnerDeletion: &yes}}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("510Mi")}}}}}}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	d := appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: snapshotMeta(a.namespace, a.name, labels),
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template}}
	rs := appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: snapshotMeta(a.namespace, a.name, labels),
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: template}}
	rs.UID, rs.OwnerReferences = d.UID+"-rs", owner("Deployment", a.name, d.UID)
	items = append(items, d, rs)
	for i, node := range a.nodes {
		end := fmt.Sprintf("-%04d", i)
		p := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: template.Spec,
			ObjectMeta: snapshotMeta(a.namespace, a.name[:min(len(a.name), 253-len(end))]+end, labels)}
		p.OwnerReferences, p.Spec.NodeName = owner("ReplicaSet", a.name, rs.UID), nodes[node]
		start := p.CreationTimestamp
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}}}
		items = append(items, p)
	}
	return items
}
