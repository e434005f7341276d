package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStrippingKeepsContainerStates checks that the stored pods have what strategies read of container states and
// conditions.
func TestStrippingKeepsContainerStates(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s"}}
	exited := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3, Message: "panic", StartedAt: since, FinishedAt: since}}
	p := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted",
		ContainerStatuses:          []corev1.ContainerStatus{{Name: "c", RestartCount: 7, State: waiting, ImageID: "x"}},
		InitContainerStatuses:      []corev1.ContainerStatus{{Name: "i", RestartCount: 2, State: exited}},
		EphemeralContainerStatuses: []corev1.ContainerStatus{{Name: "e", State: exited}},
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodInitialized, Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized", LastTransitionTime: since},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: since},
			{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, Reason: "PodCompleted", LastTransitionTime: since},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: since}},
	}}
	if _, err := newInternCache().stripAndIntern(p); err != nil {
		t.Fatal(err)
	}
	failed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3, FinishedAt: since}}
	want := corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted",
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", RestartCount: 7,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}},
		InitContainerStatuses:      []corev1.ContainerStatus{{Name: "i", RestartCount: 2, State: failed}},
		EphemeralContainerStatuses: []corev1.ContainerStatus{{Name: "e", State: failed}},
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodInitialized, Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized", LastTransitionTime: since},
			{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, Reason: "PodCompleted", LastTransitionTime: since},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: since}},
	}
	if d := cmp.Diff(want, p.Status); d != "" {
		t.Errorf("stored status (-want +got):\n%s", d)
	}
}
