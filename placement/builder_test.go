package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	zoneKey = corev1.LabelTopologyZone
	hostKey = corev1.LabelHostname
)

// snapshotBuilder collects the objects of a small cluster.
type snapshotBuilder struct{ objects cluster.Objects }

func newSnapshotBuilder() *snapshotBuilder {
	b := &snapshotBuilder{}
	b.objects.ServerVersion = "1.37"
	b.namespace("default", nil)
	return b
}

func (b *snapshotBuilder) namespace(name string, labels map[string]string) {
	b.objects.Namespaces = append(b.objects.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
}

// node adds a ready node with 10 CPUs and 10Gi of memory.
func (b *snapshotBuilder) node(name, zone string, edit ...func(*corev1.Node)) {
	rl := corev1.ResourceList{
		"cpu": resource.MustParse("10"), "memory": resource.MustParse("10Gi"), "pods": resource.MustParse("110"),
		"ephemeral-storage": resource.MustParse("100Gi"),
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostKey: name}},
		Status: corev1.NodeStatus{Capacity: rl, Allocatable: rl, Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	if zone != "" {
		n.Labels[zoneKey] = zone
	}
	for _, e := range edit {
		e(n)
	}
	b.objects.Nodes = append(b.objects.Nodes, n)
}

// app adds a ReplicaSet with a pod on each of the given nodes ("" for an unbound pod), named app-0,
// app-1 and so on. Each pod requests milliCPU, and the same share of 10Gi of memory.
func (b *snapshotBuilder) app(name string, milliCPU int64, edit func(*corev1.PodSpec), nodes ...string) {
	labels := map[string]string{"app": name}
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example/" + name + ":1"}}}
	if milliCPU > 0 {
		spec.Containers[0].Resources.Requests = corev1.ResourceList{
			"cpu":    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
			"memory": *resource.NewQuantity(milliCPU*(10<<30)/10000, resource.BinarySI),
		}
	}
	if edit != nil {
		edit(&spec)
	}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("rs-" + name)}}
	rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	rs.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	b.objects.ReplicaSets = append(b.objects.ReplicaSets, rs)
	yes := true
	for i, n := range nodes {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), UID: types.UID(fmt.Sprintf("%s-%d", name, i)), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: rs.UID, Controller: &yes}},
		}, Spec: *spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Spec.NodeName = n
		b.objects.Pods = append(b.objects.Pods, p)
	}
}

func (b *snapshotBuilder) service(name string) {
	b.objects.Services = append(b.objects.Services, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": name}},
	})
}

// pod returns the added pod with that name. Tests may change the returned pod.
func (b *snapshotBuilder) pod(name string) *corev1.Pod {
	for _, p := range b.objects.Pods {
		if p.Name == name {
			return p
		}
	}
	panic("no pod " + name)
}

func (b *snapshotBuilder) model(t testing.TB) *ClusterModel {
	t.Helper()
	return b.modelWithProfile(t, scheduler.DefaultProfile())
}

// modelWithProfile returns a model whose default-scheduler has the profile.
func (b *snapshotBuilder) modelWithProfile(t testing.TB, p scheduler.Profile) *ClusterModel {
	t.Helper()
	return b.modelWithOptions(t, Options{Profiles: map[string]scheduler.Profile{corev1.DefaultSchedulerName: p}})
}

func (b *snapshotBuilder) modelWithOptions(t testing.TB, o Options) *ClusterModel {
	t.Helper()
	s := must.Get(cluster.New(&b.objects))(t)
	return NewClusterModel(s, o)
}

func podID(t testing.TB, m *ClusterModel, pod string) cluster.PodID {
	t.Helper()
	p := m.Cluster.Snap.PodByKey("default/" + pod)
	if p == nil {
		t.Fatalf("no pod %s", pod)
	}
	return p.ID
}

func nodeID(t testing.TB, m *ClusterModel, name string) cluster.NodeID {
	t.Helper()
	n := m.Cluster.Snap.NodeByName(name)
	if n == nil {
		t.Fatalf("no node %s", name)
	}
	return n.ID
}

// nodeNames returns the names of the nodes, separated by spaces.
func nodeNames(m *ClusterModel, ids []cluster.NodeID) string {
	var out []string
	for _, n := range ids {
		out = append(out, m.Cluster.Snap.Nodes[n].Name)
	}
	return strings.Join(out, " ")
}

// explainNode returns the result of Explain for one node.
func explainNode(t testing.TB, m *ClusterModel, pod, node string, gone bool) NodeVerdict {
	t.Helper()
	n := nodeID(t, m, node)
	for _, v := range m.Explain(podID(t, m, pod)) {
		if v.Node == n && v.Gone == gone {
			return v
		}
	}
	t.Fatalf("Explain returned no result for pod %s on node %s", pod, node)
	return NodeVerdict{}
}

// scoreOf returns a plugin's score of a node, before its weight.
func scoreOf(t testing.TB, v NodeVerdict, plugin string) int64 {
	t.Helper()
	for _, s := range v.Scores {
		if s.Plugin == plugin {
			return s.Normalised
		}
	}
	t.Fatalf("no score %s in %+v", plugin, v)
	return 0
}

func anyNode(cluster.NodeID) bool { return true }
