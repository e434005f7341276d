package model

import (
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
)

// nonZeroDefaults are what scores take a container for that requests nothing.
var nonZeroDefaults = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}
