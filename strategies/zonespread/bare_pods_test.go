package zonespread_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
)

// TestBarePodsWithoutUID states a goal about a Service whose pods have no controller and no UID, as
// in a snapshot that a person wrote.
func TestBarePodsWithoutUID(t *testing.T) {
	labels := map[string]string{"app": "web"}
	o := &cluster.Objects{ServerVersion: "1.37"}
	for _, n := range []string{"a", "b"} {
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{corev1.LabelTopologyZone: n}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	for _, name := range []string{"web-0", "web-1"} {
		o.Pods = append(o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: labels},
			Spec:       corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c"}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	o.Services = append(o.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.ServiceSpec{Selector: labels}})
	s := must.Get(cluster.New(o))(t)
	z, errs := zonespread.New("zones", []byte(`{"by": "service"}`), cluster.Scope{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	goals := z.Goals(s)
	if len(goals) != 1 || len(goals[0].Pods) != 2 || len(goals[0].Domains) != 2 {
		t.Errorf("got %+v, want one goal about 2 pods and 2 zones", goals)
	}
}
