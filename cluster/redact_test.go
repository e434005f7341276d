package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRedactionKeepsMigratedPlugins checks that predictions of older schedulers can be repeated: they count Portworx
// volumes only on nodes with this annotation.
func TestRedactionKeepsMigratedPlugins(t *testing.T) {
	n := &storagev1.CSINode{}
	n.Name = "a"
	n.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/portworx-volume", "note": "secret"}
	out := cluster.Redact(&cluster.Objects{CSINodes: []*storagev1.CSINode{n}}).CSINodes[0].Annotations
	if len(out) != 1 || out[corev1.MigratedPluginsAnnotationKey] != "kubernetes.io/portworx-volume" {
		t.Errorf("annotations %v, want only the migrated plugins", out)
	}
}

// TestRedactionKeepsContainerStates checks that a redacted snapshot has what strategies read of container states, and
// no messages.
func TestRedactionKeepsContainerStates(t *testing.T) {
	ended := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, Message: "secret",
		ContainerID: "x", FinishedAt: ended}}
	status := []corev1.ContainerStatus{{Name: "c", RestartCount: 7, State: state, Image: "registry/secret"},
		{Name: "d", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "secret"}}}}
	p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses = status, status[:1], status[:1]
	got := cluster.Redact(&cluster.Objects{Pods: []*corev1.Pod{p}}).Pods[0].Status
	want := corev1.ContainerStatus{Name: "c", RestartCount: 7,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: ended}}}
	for _, list := range [][]corev1.ContainerStatus{got.ContainerStatuses, got.InitContainerStatuses, got.EphemeralContainerStatuses} {
		if d := cmp.Diff(want, list[0]); d != "" {
			t.Error(d)
		}
	}
	p.Status.Phase = corev1.PodRunning
	running := cluster.Redact(&cluster.Objects{Pods: []*corev1.Pod{p}}).Pods[0].Status.InitContainerStatuses[0].State.Terminated
	if !running.FinishedAt.IsZero() {
		t.Errorf("a running pod has the time %v of its init container", running.FinishedAt)
	}
	if w := got.ContainerStatuses[1].State.Waiting; *w != (corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}) {
		t.Errorf("waiting state %+v, want only the reason", w)
	}
}
