package guard

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Few nodes may be able to attach the volume of a claim, and attaching it takes time.
var persistentVolume = Rule{plan.PersistentVolume, PodScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectPVC] {
		return "", false
	}
	for _, c := range podClaims(in) {
		return fmt.Sprintf("volume %s is a PersistentVolumeClaim", c.volume), true
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

// claim is a PersistentVolumeClaim of a pod.
type claim struct {
	volume        string
	name          string
	templateClass *string // the storage class in the template of an ephemeral volume
}

// podClaims returns the PersistentVolumeClaims of the pod, including those of ephemeral volumes.

func podClaims(in Input) []claim {
	var out []claim
	pod := in.Pod.Object
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, claim{volume: v.Name, name: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			c := claim{volume: v.Name, name: pod.Name + "-" + v.Name}
			if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
				c.templateClass = t.Spec.StorageClassName
			}
			out = append(out, c)
		}
	}
	return out
}

// storageClass returns the storage class of the claim, or "" if the claim names none. It returns
// false if the claim is not in the snapshot and has no template.
func (c claim) storageClass(in Input) (class string, known bool) {
	if o := in.Snapshot.Claim(in.Pod.Object.Namespace, c.name); o != nil {
		if o.Spec.StorageClassName == nil {
			return o.Annotations["volume.beta.kubernetes.io/storage-class"], true
		}
		return *o.Spec.StorageClassName, true
	}
	if c.templateClass != nil {
		return *c.templateClass, true
	}
	return "", false
}
