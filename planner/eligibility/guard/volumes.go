package guard

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// When a pod leaves its node, it loses the data of its emptyDir and hostPath volumes.
var localStorage = Rule{plan.LocalStorage, PodScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectLocalStorage] {
		return "", false
	}
	var causes []localVolume
	for _, v := range in.Pod.Object.Spec.Volumes {
		if v.EmptyDir != nil {
			causes = append(causes, localVolume{v.Name, "an emptyDir"})
		} else if v.HostPath != nil {
			causes = append(causes, localVolume{v.Name, "a hostPath"})
		}
	}
	return joinCauses(causes), len(causes) > 0
}}

type localVolume struct{ name, kind string }

func (v localVolume) String() string { return "volume " + v.name + " is " + v.kind + " on the node" }

// Perhaps only a few nodes can attach the volume of a claim, and attaching a volume takes time.
var persistentVolume = Rule{plan.PersistentVolume, PodScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectPVC] {
		return "", false
	}
	for _, c := range podClaims(in) {
		return "volume " + c.volume + " is a PersistentVolumeClaim", true
	}
	return "", false
}}

// Users protect storage classes whose volumes attach slowly or unreliably to another node.
var protectedStorageClass = Rule{plan.ProtectedStorageClass, PodScope, func(in Input) (string, bool) {
	if len(in.Options.ProtectedStorageClasses) == 0 {
		return "", false
	}
	for _, c := range podClaims(in) {
		class, known := c.storageClass(in)
		switch {
		case !known:
			return fmt.Sprintf("the storage class of claim %s is unknown", c.name), true
		case slices.Contains(in.Options.ProtectedStorageClasses, class):
			return fmt.Sprintf("claim %s has storage class %s (guards.protectedStorageClasses)", c.name, class), true
		}
	}
	return "", false
}}

// volumeClaim is a PersistentVolumeClaim of a pod.
type volumeClaim struct {
	volume, name  string
	templateClass *string // the storage class in the template of an ephemeral volume
}

// podClaims returns the PersistentVolumeClaims of the pod, including the claims of ephemeral volumes.
func podClaims(in Input) []volumeClaim {
	var out []volumeClaim
	pod := in.Pod.Object
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, volumeClaim{volume: v.Name, name: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			c := volumeClaim{volume: v.Name, name: pod.Name + "-" + v.Name}
			if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
				c.templateClass = t.Spec.StorageClassName
			}
			out = append(out, c)
		}
	}
	return out
}

// storageClass returns the storage class of the claim, or "" if the claim names no class. It returns
// false if the claim is not in the snapshot and has no template.
func (c volumeClaim) storageClass(in Input) (class string, known bool) {
	if o := in.Snapshot.Claim(in.Pod.Object.Namespace, c.name); o != nil {
		return ptr.Deref(o.Spec.StorageClassName, o.Annotations[corev1.BetaStorageClassAnnotation]), true
	}
	return ptr.Deref(c.templateClass, ""), c.templateClass != nil
}

// Other nodes may have no free device for the resource claims of the pod.
var resourceClaims = Rule{plan.ResourceClaims, PodScope, func(in Input) (string, bool) {
	hasClaims := len(in.Pod.Object.Spec.ResourceClaims) > 0
	return "the pod uses resource claims (guards.protect: PodsWithResourceClaims)", hasClaims && in.Options.Protect[ProtectResourceClaims]
}}
