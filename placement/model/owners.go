package model

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type ownerKey struct{ apiVersion, kind, namespace, name string }

// Owner is what a pod's controller says about its pods.
type Owner struct {
	Selector       labels.Selector
	Template       *corev1.PodSpec
	WaitsForVictim bool // the replacement comes only when the victim is gone
}

// jobWaitsForVictim reports whether a Job replaces a pod only when it has ended. The API
// server fills in Failed where there is a podFailurePolicy.
func jobWaitsForVictim(j *batchv1.Job) bool {
	if p := j.Spec.PodReplacementPolicy; p != nil {
		return *p == batchv1.Failed
	}
	return j.Spec.PodFailurePolicy != nil
}
