package guard

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// podCounts are numbers of pods of one workload.
type podCounts struct {
	active    int // pods that are not terminating
	available int // see AvailableOf
}

func newPodCounts(s *cluster.Snapshot, w *cluster.Workload, now time.Time) podCounts {
	n := podCounts{available: AvailableOf(s, w, now)}
	for _, id := range w.Pods {
		if !s.Pods[id].Terminating {
			n.active++
		}
	}
	return n
}

// Desired returns the desired replicas of a workload. If the replica count is unknown, it
// returns the number of existing pods, including terminating pods.
func Desired(w *cluster.Workload) int {
	if w.Replicas >= 0 {
		return int(w.Replicas)
	}
	return len(w.Pods)
}

// AvailableOf counts the pods of a workload that are available and not terminating. A pod is
// available if it has been Ready for minReadySeconds.
func AvailableOf(s *cluster.Snapshot, w *cluster.Workload, now time.Time) int {
	n := 0
	for _, id := range w.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating && isAvailable(p, now) {
			n++
		}
	}
	return n
}

// isAvailable reports whether a Ready pod has been Ready for minReadySeconds. If minReadySeconds
// is positive and the transition time is missing, it returns false.
func isAvailable(p *cluster.Pod, now time.Time) bool {
	if len(p.Owners) == 0 {
		return true
	}
	minReady := minReadyTime(p.Owners[0])
	if minReady == 0 {
		return true
	}
	for i := range p.Object.Status.Conditions {
		if c := &p.Object.Status.Conditions[i]; c.Type == corev1.PodReady {
			return !c.LastTransitionTime.IsZero() && !now.Before(c.LastTransitionTime.Add(minReady))
		}
	}
	return false
}

// minReadyTime returns minReadySeconds of a pod's controller. The Deployment controller copies
// the value of a Deployment to its ReplicaSets.
func minReadyTime(controller metav1.Object) time.Duration {
	seconds := int32(0)
	switch o := controller.(type) {
	case *appsv1.ReplicaSet:
		seconds = o.Spec.MinReadySeconds
	case *appsv1.StatefulSet:
		seconds = o.Spec.MinReadySeconds
	case *corev1.ReplicationController:
		seconds = o.Spec.MinReadySeconds
	}
	return time.Duration(seconds) * time.Second
}
