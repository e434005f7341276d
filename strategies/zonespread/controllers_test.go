package zonespread

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// TestControllersWithoutANameAreControllers: kind and name of the reference to a controller may be empty, because
// snapshots are written by hand, too.
func TestControllersWithoutANameAreControllers(t *testing.T) {
	for _, ref := range []metav1.OwnerReference{{}, {Kind: "ReplicaSet"}, {Name: "web"}, {APIVersion: "apps/v1", UID: "1"}} {
		ref.Controller = ptr.To(true)
		o := &cluster.Objects{}
		for _, zone := range []string{"a", "b"} {
			o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: zone, Labels: map[string]string{corev1.LabelTopologyZone: zone}}})
		}
		for _, name := range []string{"p1", "p2", "p3"} {
			o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: []metav1.OwnerReference{ref}},
				Spec: corev1.PodSpec{NodeName: "a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
		}
		s := must.Get(cluster.New(o))(t)
		z, errs := New("zones", nil, cluster.Scope{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		z.Goals(s)
		if got := topology.NewCache(s, cluster.Scope{}).Representatives([]cluster.PodID{0, 1, 2}); len(got) != 1 {
			t.Errorf("%+v: %d controllers, want 1", ref, len(got))
		}
	}
}
