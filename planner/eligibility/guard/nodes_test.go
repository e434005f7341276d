package guard

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestNodeState(t *testing.T) {
	n := &cluster.Node{Object: &corev1.Node{}, Ready: true}
	if got := NodeState(n); len(got) > 0 {
		t.Errorf("a usual node is %q", got)
	}
	n.Ready, n.Object.Spec.Unschedulable = false, true
	n.Object.Spec.Taints = []corev1.Taint{{Key: "ToBeDeletedByClusterAutoscaler"}}
	want := []string{"cordoned", "not Ready", "being removed by the cluster autoscaler"}
	if got := NodeState(n); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
