package limits

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// TestPodsWithoutAWorkloadShareNoHourlyLimit: limits.perHour.owner counts each pod without a workload for itself. A
// planned eviction of one such pod uses nothing of the limit of another one.
func TestPodsWithoutAWorkloadShareNoHourlyLimit(t *testing.T) {
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
	for _, name := range []string{"a", "b"} {
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
			Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	}
	s := must.Get(cluster.New(o))(t)
	opts := Options{PerPass: plan.Unlimited(), PerNode: plan.Unlimited(), PerNamespace: plan.Unlimited(),
		PerOwner: plan.Unlimited(), PerZone: plan.Unlimited()}
	opts.PerHour.Cluster, opts.PerHour.Namespace, opts.PerHour.Owner = plan.Unlimited(), plan.Unlimited(), plan.Absolute(1)
	evicted := plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "b"}
	l := NewCounter(s, opts, history.HourlyCounts{})
	l.Add(s.PodByUID("a").ID, NoStrategy)
	if r, refused := l.RefuseAgain(NoStrategy, s.PodByUID("b").ID); refused {
		t.Errorf("after a planned eviction of another pod: %+v", r)
	}
	l = NewCounter(s, opts, history.HourlyCounts{Workload: map[plan.ObjectRef]int{evicted: 1}})
	if r, refused := l.RefuseAgain(NoStrategy, s.PodByUID("b").ID); !refused || r.Code != plan.LimitPerHour {
		t.Errorf("after an eviction of a pod with the same name: refused %v, %+v", refused, r)
	}
}

// A node without a zone label counts toward the limit of the nodes outside of zones.
func TestTheLimitOfNodesOutsideOfZones(t *testing.T) {
	s := must.Get(cluster.New(&cluster.Objects{
		Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
		Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a"},
			Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}}))(t)
	u := plan.Unlimited()
	l := NewCounter(s, Options{PerPass: u, PerNode: u, PerNamespace: u, PerOwner: u, PerZone: plan.Absolute(0),
		PerHour: PerHour{Cluster: u, Namespace: u, Owner: u}}, history.HourlyCounts{})
	r, refused := l.Refuse(s.PodByUID("a").ID)
	if !refused || r.Code != plan.LimitPerZone || r.Message != "limits.perZone outside of zones allows 0 evictions; 0 planned already" {
		t.Errorf("refused %v, %+v", refused, r)
	}
}

// TestTheFirstOfEquallyStrictLimitsIsNamed: if two limits allow equally few evictions, the reason names the first one.
func TestTheFirstOfEquallyStrictLimitsIsNamed(t *testing.T) {
	none := plan.Absolute(0)
	o := Options{PerPass: none, PerHour: PerHour{Cluster: none}}
	l := NewCounter(&cluster.Snapshot{}, o, history.HourlyCounts{})
	if r, exhausted := l.Exhausted(); !exhausted || r.Code != plan.LimitPerPass {
		t.Errorf("exhausted %v, %+v", exhausted, r)
	}
}

// TestTheShareOfEachLimit: limits of each subject show the highest share, and limits per hour include the last hour.
func TestTheShareOfEachLimit(t *testing.T) {
	o := &cluster.Objects{}
	for _, name := range []string{"n1", "n2"} {
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{ZoneKey: "zone-" + name}}})
	}
	for name, node := range map[string]string{"a": "n1", "b": "n1", "c": "n1", "d": "n1", "e": "n2"} {
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
			Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	}
	s := must.Get(cluster.New(o))(t)
	u := plan.Unlimited()
	opts := Options{PerPass: plan.Absolute(4), PerNode: plan.Percent(50), PerNamespace: u, PerOwner: plan.Absolute(0),
		PerZone: plan.Absolute(2), PerHour: PerHour{Cluster: plan.Absolute(8), Namespace: plan.Absolute(10), Owner: plan.Absolute(2)}}
	l := NewCounter(s, opts, history.HourlyCounts{Cluster: 5, Namespace: map[string]int{"shop": 1, "other": 4},
		Workload: map[plan.ObjectRef]int{{Kind: "Deployment", Name: "web"}: 1}})
	l.Add(s.PodByUID("a").ID, NoStrategy)
	got := map[string]float64{}
	for _, x := range l.Use() {
		got[x.Limit] = x.Share
	}
	want := map[string]float64{
		"limits.perPass": 0.25, "limits.perNode": 0.5, "limits.perOwner": 1, "limits.perZone": 0.5,
		"limits.perHour.owner": 0.5, "limits.perHour.namespace": 0.4, "limits.perHour.cluster": 0.75,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
