package annotation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxValueLength limits how much of a value a message repeats, in characters. Annotations may
// be 256 KiB long.
const maxValueLength = 60

func truncate(v string) string {
	if r := []rune(v); len(r) > maxValueLength {
		return string(r[:maxValueLength]) + "..."
	}
	return v
}

// ownerName returns kind, namespace and name of an owner. The kind comes from the Go type,
// because informers drop it from the object.
func ownerName(o metav1.Object) string {
	kind := "owner"
	switch o.(type) {
	case *appsv1.Deployment:
		kind = "Deployment"
	case *appsv1.ReplicaSet:
		kind = "ReplicaSet"
	case *appsv1.StatefulSet:
		kind = "StatefulSet"
	case *appsv1.DaemonSet:
		kind = "DaemonSet"
	case *batchv1.Job:
		kind = "Job"
	case *batchv1.CronJob:
		kind = "CronJob"
	case *corev1.ReplicationController:
		kind = "ReplicationController"
	}
	return fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName())
}
