package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods that terminate in the snapshot keep their resources but not their place
// in the spread, neither before nor after another pod moves.
func TestSpreadLeavesTerminatingPodsOut(t *testing.T) {
	b := newBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("x", 1000, func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("x")}}
	}, "a", "b", "b")
	now := metav1.Unix(1, 0)
	b.pod("x-2").DeletionTimestamp = &now
	w := b.model(t)
	w.replacementOf(podID(t, w, "x-0")) // the counter exists before the move
	w.Move(podID(t, w, "x-2"), nodeID(t, w, "a"))
	// 1/1 without the victim x-0: 0/1, so only zone a is within the skew.
	if got := nodeNames(w, w.Predict(podID(t, w, "x-0")).Gone.Feasible); got != "a" {
		t.Errorf("x-0: %q, want a", got)
	}
	// Without x-1: 1/0, so only zone b; the terminating pod is counted nowhere.
	if got := nodeNames(w, w.Predict(podID(t, w, "x-1")).Gone.Feasible); got != "b" {
		t.Errorf("x-1: %q, want b", got)
	}
	if got := w.Requested(nodeID(t, w, "a")).MilliCPU; got != 2000 {
		t.Errorf("a has %d requested, want 2000", got)
	}
}

// A node without a zone scores nothing under own constraints on the zone, and
// takes part with its host name under the system's defaults.
func TestNodeWithoutZone(t *testing.T) {
	for own, want := range map[bool]int64{true: 0, false: 100} {
		b := newBuilder()
		b.node("a", "za")
		b.node("nozone", "")
		b.app("x", 1000, func(s *corev1.PodSpec) {
			if own {
				s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
					WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: appSelector("x")}}
			}
		}, "a", "a")
		w := b.model(t)
		if got := scoreOf(t, verdict(t, w, "x-0", "nozone", true), "PodTopologySpread"); got != want {
			t.Errorf("own constraints %v: %d, want %d", own, got, want)
		}
	}
}
