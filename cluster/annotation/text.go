package annotation

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func sortProblems(list []Problem) {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
}

// maxValueLength bounds what is repeated of a value; annotations may be 256 KiB long.
const maxValueLength = 60

func truncate(v string) string {
	if r := []rune(v); len(r) > maxValueLength {
		return string(r[:maxValueLength]) + "..."
	}
	return v
}

// truncated is a source of which no more is repeated than clip lets through.
func truncated(src Source) Source {
	src.Value = truncate(src.Value)
	return src
}

// ownerName names an owner by kind, namespace and name. Informers drop the
// kind, so it is told by type.
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
