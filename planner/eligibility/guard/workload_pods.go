package guard

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// AvailableOf counts the available pods of a workload that are not on their way
// out: those that have been Ready for its minReadySeconds. Since when a pod is
// Ready must be known where that is above 0.
func AvailableOf(s *cluster.Snapshot, w *cluster.Workload, now time.Time) int {
	n := 0
	for _, id := range w.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating && readyLongEnough(p, now) {
			n++
		}
	}
	return n
}

func readyLongEnough(p *cluster.Pod, now time.Time) bool {
	if len(p.Owners) == 0 {
		return true
	}
	need := minReady(p.Owners[0])
	if need == 0 {
		return true
	}
	for i := range p.Object.Status.Conditions {
		if c := &p.Object.Status.Conditions[i]; c.Type == corev1.PodReady {
			return !c.LastTransitionTime.IsZero() && !now.Before(c.LastTransitionTime.Add(need))
		}
	}
	return false
}

// minReady is the minReadySeconds of a pod's controller. A Deployment's is that
// of its ReplicaSets.
func minReady(controller metav1.Object) time.Duration {
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
