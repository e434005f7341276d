package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSpreadLeavesTerminatingPodsOut: pods that terminate in the snapshot keep their resources, but
// topology spread never counts them, also after another pod moves.
func TestSpreadLeavesTerminatingPodsOut(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("x", 1000, func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("x")}}
	}, "a", "b", "b")
	now := metav1.Unix(1, 0)
	b.pod("x-2").DeletionTimestamp = &now
	m := b.model(t)
	m.replacementOf(podID(t, m, "x-0")) // the counter exists before the move
	m.Cluster.Move(podID(t, m, "x-2"), nodeID(t, m, "a"))
	// 1/1 without the victim x-0: 0/1, so only zone a is within the skew.
	if got := nodeNames(m, m.Predict(podID(t, m, "x-0")).Gone.Feasible); got != "a" {
		t.Errorf("x-0: %q, want a", got)
	}
	// Without x-1: 1/0, so only zone b; the terminating pod is counted nowhere.
	if got := nodeNames(m, m.Predict(podID(t, m, "x-1")).Gone.Feasible); got != "b" {
		t.Errorf("x-1: %q, want b", got)
	}
	if got := m.Cluster.Requested(nodeID(t, m, "a")).MilliCPU; got != 2000 {
		t.Errorf("a has %d requested, want 2000", got)
	}
}

// TestNodeWithoutZone: with the pod's own constraints on the zone, a node without a zone gets score
// 0. With the system's default constraints, only the host name counts for such a node.
func TestNodeWithoutZone(t *testing.T) {
	for own, want := range map[bool]int64{true: 0, false: 100} {
		b := newSnapshotBuilder()
		b.node("a", "za")
		b.node("nozone", "")
		b.app("x", 1000, func(s *corev1.PodSpec) {
			if own {
				s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
					WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: appSelector("x")}}
			}
		}, "a", "a")
		m := b.model(t)
		if got := scoreOf(t, explainNode(t, m, "x-0", "nozone", true), "PodTopologySpread"); got != want {
			t.Errorf("own constraints %v: %d, want %d", own, got, want)
		}
	}
}
