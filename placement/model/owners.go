package model

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type ownerKey struct{ apiVersion, kind, namespace, name string }

// Owner holds the data of a pod's controller.
type Owner struct {
	Selector       labels.Selector
	Template       *corev1.PodSpec
	WaitsForVictim bool // creates the replacement only after the victim is gone
}

// jobWaitsForVictim reports whether a Job replaces a pod only after the pod has ended. If a Job has
// a podFailurePolicy, its podReplacementPolicy defaults to Failed.
func jobWaitsForVictim(j *batchv1.Job) bool {
	if p := j.Spec.PodReplacementPolicy; p != nil {
		return *p == batchv1.Failed
	}
	return j.Spec.PodFailurePolicy != nil
}
