package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// podSpecs finds the pod specs inside an object.
func podSpecs(x object) []*corev1.PodSpec {
	switch o := x.(type) {
	case *corev1.Pod:
		return []*corev1.PodSpec{&o.Spec}
	case *corev1.ReplicationController:
		if o.Spec.Template != nil {
			return []*corev1.PodSpec{&o.Spec.Template.Spec}
		}
	case *appsv1.Deployment:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.ReplicaSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.StatefulSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.DaemonSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *batchv1.Job:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *batchv1.CronJob:
		return []*corev1.PodSpec{&o.Spec.JobTemplate.Spec.Template.Spec}
	case *appsv1.ControllerRevision:
		o.Data.Raw = nil // a whole pod template; nothing reads it yet
	}
	return nil
}
