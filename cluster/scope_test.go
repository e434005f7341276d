package cluster_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestScopeOfPods(t *testing.T) {
	web := must.Get(labels.Parse("app=web"))(t)
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

func TestListsNamespace(t *testing.T) {
	for _, c := range []struct {
		entry, name string
		valid, want bool
	}{
		{"shop", "shop", true, true}, {"shop", "shop-a", true, false},
		{"openshift-*", "openshift-dns", true, true}, {"openshift-*", "openshift", true, false}, {"openshift*", "openshift", true, true},
		{"openshift-*", "openshift-dns*", true, true}, {"openshift-dns*", "openshift-*", true, false},
		{"*", "shop", false, true}, {"a*b", "acb", false, false}, {"-*", "a", false, false}, {"Shop*", "shop", false, false},
	} {
		if got := cluster.ValidNamespaces(c.entry); got != c.valid {
			t.Errorf("%s: valid %v, want %v", c.entry, got, c.valid)
		}
		if got := cluster.ListsNamespace([]string{"other", c.entry}, c.name); got != c.want {
			t.Errorf("%s lists %s: %v, want %v", c.entry, c.name, got, c.want)
		}
	}
}
