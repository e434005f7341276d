package planverifier

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
)

// checkVolumes checks the volumes of the pod.
func (r *podGuards) checkVolumes(p *corev1.Pod, add rejectFunc) {
	c := r.rules
	for _, v := range p.Spec.Volumes {
		local, stranded := localVolume(r.rules, r.before.objects, p, v)
		add(local && c.Protect["PodsWithLocalStorage"] || stranded, plan.LocalStorage, "volume "+v.Name)
		if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			continue
		}
		add(c.Protect["PodsWithPVC"], plan.PersistentVolume, "volume "+v.Name)
		if len(c.ProtectedStorageClasses) > 0 {
			class, known := r.before.storageClass(p, v)
			add(!known || slices.Contains(c.ProtectedStorageClasses, class), plan.ProtectedStorageClass, "volume "+v.Name+" of class "+class)
		}
	}
}

// localVolume reports whether the data of a volume is on the node only and is not named as safe. It is stranded there
// if a claim keeps it, and no node affinity leads the next pod to it.
func localVolume(r *Rules, o *cluster.Objects, p *corev1.Pod, v corev1.Volume) (local, stranded bool) {
	named := strings.Split(strings.ReplaceAll(p.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"], " ", ""), ",")
	for _, pattern := range r.SafeLocalVolumes {
		if v.Name == pattern || strings.HasSuffix(pattern, "*") && strings.HasPrefix(v.Name, pattern[:len(pattern)-1]) {
			named = append(named, v.Name)
		}
	}
	if slices.Contains(named, v.Name) {
		return false, false
	}
	local = v.EmptyDir != nil || v.HostPath != nil
	if claim := targets.ClaimOf(o, p, v); claim != nil {
		for _, pv := range o.PersistentVolumes {
			if pv.Name == claim.Spec.VolumeName && (pv.Spec.HostPath != nil || pv.Spec.Local != nil) {
				local, stranded = true, pv.Spec.NodeAffinity == nil && v.Ephemeral == nil
			}
		}
	}
	return local, stranded
}

// storageClass returns the class of a volume's claim, and false if it is unknown. A claim may have none.
func (w *clusterIndex) storageClass(p *corev1.Pod, v corev1.Volume) (string, bool) {
	if claim := targets.ClaimOf(w.objects, p, v); claim != nil {
		if old, ok := claim.Annotations["volume.beta.kubernetes.io/storage-class"]; ok {
			return old, true
		}
		if claim.Spec.StorageClassName != nil {
			return *claim.Spec.StorageClassName, true
		}
		return "", true
	}
	return "", false
}
