package guard

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// When a pod leaves its node, it loses the data that is stored only there. The kind: emptyDir volumes of every medium,
// hostPath volumes, and claims of every owner whose PersistentVolume is a hostPath or local.
//
// A claim says that its data must persist, and on another node a hostPath is an empty folder. So the rule keeps a pod
// with a claim on such a volume without node affinity even if guards.protect omits PodsWithLocalStorage. With node
// affinity, the scheduler sends the replacement back to the data.
//
// The operator and the owner of the pod can name volumes that hold nothing worth keeping.
var localStorage = Rule{plan.LocalStorage, OddPodScope, func(in Input) (string, bool) {
	var causes []localVolume
	volumes := in.Pod.Object.Spec.Volumes
	for i := range volumes {
		kind, persistent := in.localKind(&volumes[i])
		if kind != "" && (persistent || in.Options.Protect[ProtectLocalStorage]) && !in.isSafeLocalVolume(volumes[i].Name) {
			causes = append(causes, localVolume{volumes[i].Name, kind})
		}
	}
	return joinCauses(causes), len(causes) > 0
}}

type localVolume struct{ name, kind string }

func (v localVolume) String() string { return "volume " + v.name + " is " + v.kind + " on the node" }

// localKind returns what stores the data of the volume on the node, or "" if nothing does. persistent is true if the
// data is meant to outlive the pod, and the scheduler does not know where it is.
func (in Input) localKind(v *corev1.Volume) (kind string, persistent bool) {
	switch {
	case v.EmptyDir != nil:
		return "an emptyDir", false
	case v.HostPath != nil:
		return "a hostPath", false
	}
	name := claimName(in.Pod.Object, v)
	claim := in.Snapshot.Claim(in.Pod.Object.Namespace, name)
	if claim == nil {
		return "", false
	}
	pv := in.Snapshot.PersistentVolume(claim.Spec.VolumeName)
	switch {
	case pv != nil && pv.Spec.HostPath != nil:
		kind = "a hostPath"
	case pv != nil && pv.Spec.Local != nil:
		kind = "a local volume"
	default:
		return "", false
	}
	return fmt.Sprintf("claim %s, and its PersistentVolume %s is %s", name, pv.Name, kind), pv.Spec.NodeAffinity == nil && v.Ephemeral == nil
}

// isSafeLocalVolume reports whether the configuration or an annotation of the pod names the volume.
func (in Input) isSafeLocalVolume(name string) bool {
	return slices.Contains(annotation.SafeLocalVolumes(in.Pod.Object), name) ||
		slices.ContainsFunc(in.Options.SafeLocalVolumes, func(pattern string) bool {
			prefix, isPrefix := strings.CutSuffix(pattern, "*")
			return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
		})
}

// claimName returns the name of the volume's PersistentVolumeClaim, or "" if the volume has none.
func claimName(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// Perhaps only a few nodes can attach the volume of a claim, and attaching a volume takes time.
var persistentVolume = Rule{plan.PersistentVolume, OddPodScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectPVC] {
		return "", false
	}
	for _, c := range podClaims(in) {
		return "volume " + c.volume + " is a PersistentVolumeClaim", true
	}
	return "", false
}}

// Users protect storage classes whose volumes attach slowly or unreliably to another node.
var protectedStorageClass = Rule{plan.ProtectedStorageClass, OddPodScope, func(in Input) (string, bool) {
	if len(in.Options.ProtectedStorageClasses) == 0 {
		return "", false
	}
	for _, c := range podClaims(in) {
		class, known := c.storageClass(in)
		switch {
		case !known:
			return fmt.Sprintf("the StorageClass of PersistentVolumeClaim %s is unknown", c.name), true
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
		c := volumeClaim{volume: v.Name, name: claimName(pod, v)}
		if c.name == "" {
			continue
		}
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			c.templateClass = v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName
		}
		out = append(out, c)
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
var resourceClaims = Rule{plan.ResourceClaims, TemplateScope, func(in Input) (string, bool) {
	hasClaims := len(in.Pod.Object.Spec.ResourceClaims) > 0
	return "the pod uses resource claims (PodsWithResourceClaims in guards.protect)", hasClaims && in.Options.Protect[ProtectResourceClaims]
}}
