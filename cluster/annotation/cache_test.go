package annotation

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestCacheTellsNeighborsApart: the pods of one ReplicaSet have the same labels, but not the same annotations.
func TestCacheTellsNeighborsApart(t *testing.T) {
	o := &cluster.Objects{Nodes: []*corev1.Node{{}}, Namespaces: []*corev1.Namespace{{}}}
	o.Nodes[0].Name, o.Namespaces[0].Name = "n", "shop"
	want := map[string]bool{"a-0": false, "a-1": true, "a-2": false, "b-0": true, "b-1": true, "c-0": false}
	for _, app := range []string{"a", "b", "c"} {
		rs := &appsv1.ReplicaSet{ObjectMeta: objectMeta("ReplicaSet", app, nil, "")}
		o.ReplicaSets = append(o.ReplicaSets, rs)
		for _, name := range []string{app + "-0", app + "-1", app + "-2"} {
			if _, is := want[name]; !is {
				continue
			}
			p := &corev1.Pod{ObjectMeta: objectMeta("Pod", name, rs, "ReplicaSet")}
			p.Labels, p.Spec.NodeName = map[string]string{"app": app}, "n"
			switch {
			case app == "b":
				p.Labels[Evict] = "never"
			case want[name]:
				p.Annotations = map[string]string{Evict: "never"}
			}
			o.Pods = append(o.Pods, p)
		}
	}
	s := must.Get(cluster.New(o))(t)
	c := NewCache()
	for i := range s.Pods {
		p := &s.Pods[i]
		if got := len(c.OfPod(s, p, time.UTC).NeverEvict) > 0; got != want[p.Object.Name] {
			t.Errorf("%s is never to be evicted: %v", p.Object.Name, got)
		}
	}
	if !s.Pods[0].HasTemplateOf(&s.Pods[1]) || len(s.Pods) != len(want) {
		t.Error("the test needs neighbors with one template")
	}
}
