package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestScopeOfPods(t *testing.T) {
	web, err := labels.Parse("app=web")
	if err != nil {
		t.Fatal(err)
	}
	p := &cluster.Pod{Object: &corev1.Pod{}}
	p.Object.Namespace, p.Object.Labels = "shop", map[string]string{"app": "web"}
	other := &cluster.Pod{Object: &corev1.Pod{}}
	other.Object.Namespace = "shop"
	for _, c := range []struct {
		name       string
		scope      cluster.Scope
		web, other bool
	}{
		{"everything", cluster.Scope{}, true, true},
		{"by label", cluster.Scope{Pods: web}, true, false},
		{"by label in another namespace", cluster.Scope{Pods: web, Exclude: []string{"shop"}}, false, false},
	} {
		if a, b := c.scope.HasPod(nil, p), c.scope.HasPod(nil, other); a != c.web || b != c.other {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, a, b, c.web, c.other)
		}
	}
}
