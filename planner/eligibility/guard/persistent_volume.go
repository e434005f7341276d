package guard

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A claim's volume may be reachable from few nodes only, and is slow to move.
var persistentVolume = Rule{plan.PersistentVolume, podScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectPVC] {
		return "", false
	}
	for _, c := range claims(in) {
		return fmt.Sprintf("volume %s is a PersistentVolumeClaim", c.volume), true
	}
	return "", false
}}

// A storage class may be known to be slow or risky to attach elsewhere.
var protectedStorageClass = Rule{plan.ProtectedStorageClass, podScope, func(in Input) (string, bool) {
	if len(in.Options.ProtectedStorageClasses) == 0 {
		return "", false
	}
	for _, c := range claims(in) {
		class, known := c.class(in)
		switch {
		case !known:
			return fmt.Sprintf("the storage class of claim %s is not known", c.name), true
		case slices.Contains(in.Options.ProtectedStorageClasses, class):
			return fmt.Sprintf("claim %s is of storage class %s (guards.protectedStorageClasses)", c.name, class), true
		}
	}
	return "", false
}}

// claim is a volume of a pod that is a PersistentVolumeClaim.
type claim struct {
	volume, name string
	ofTemplate   *string // the class of a claim that is made for the pod alone
	ephemeral    bool
}

func claims(in Input) []claim {
	var out []claim
	pod := in.Pod.Object
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, claim{volume: v.Name, name: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			c := claim{volume: v.Name, name: pod.Name + "-" + v.Name, ephemeral: true}
			if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
				c.ofTemplate = t.Spec.StorageClassName
			}
			out = append(out, c)
		}
	}
	return out
}

// class is the storage class of a claim: "" when it has none.
func (c claim) class(in Input) (string, bool) {
	if o := in.Snapshot.Claim(in.Pod.Object.Namespace, c.name); o != nil {
		if o.Spec.StorageClassName == nil {
			return o.Annotations["volume.beta.kubernetes.io/storage-class"], true
		}
		return *o.Spec.StorageClassName, true
	}
	if c.ephemeral && c.ofTemplate != nil {
		return *c.ofTemplate, true
	}
	return "", false
}
