package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOrdinaryPods checks that each field that only odd pods have makes a pod odd.
func TestOrdinaryPods(t *testing.T) {
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}
	volume := func(v corev1.VolumeSource) func(*indexedPod) {
		return func(k *indexedPod) {
			k.object.Spec.Volumes = append(k.object.Spec.Volumes, corev1.Volume{VolumeSource: v})
		}
	}
	for name, change := range map[string]func(*indexedPod){
		"":              func(*indexedPod) {},
		"no controller": func(k *indexedPod) { k.controller = nil },
		"terminating":   func(k *indexedPod) { k.terminating = true },
		"terminal":      func(k *indexedPod) { k.terminal = true },
		"resized":       func(k *indexedPod) { k.object.Generation = 2 },
		"finalizer":     func(k *indexedPod) { k.object.Finalizers = []string{"a/b"} },
		"group":         func(k *indexedPod) { k.object.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
		"gate":          func(k *indexedPod) { k.object.Spec.SchedulingGates = make([]corev1.PodSchedulingGate, 1) },
		"claim":         func(k *indexedPod) { k.object.Spec.ResourceClaims = make([]corev1.PodResourceClaim, 1) },
		"extended resource": func(k *indexedPod) {
			k.object.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{}
		},
		"mirror pod": func(k *indexedPod) { k.object.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "a"} },
		"resize": func(k *indexedPod) {
			k.object.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending}}
		},
		"no volume source": volume(corev1.VolumeSource{}),
		"host path":        volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}),
		"two volume sources": volume(corev1.VolumeSource{Secret: secret.Secret,
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}),
	} {
		k := &indexedPod{object: &corev1.Pod{}, controller: &metav1.OwnerReference{Kind: "ReplicaSet"}}
		volume(secret)(k)
		if change(k); isOrdinary(k) != (name == "") {
			t.Errorf("%q: ordinary is %t", name, isOrdinary(k))
		}
	}
}
