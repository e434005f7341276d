package fit

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// noVolume returns why the pod's bound volumes cannot be on its node while all other pods of the wave
// hold both their old and their new place; empty if they can. A volume's node affinity must select
// the node, and a CSI driver attaches only as many volumes as its CSINode says.
func (r *Cluster) noVolume(pod *corev1.Pod, settled []*corev1.Pod, wave []Replaced) string {
	node := r.Nodes[pod.Spec.NodeName]
	needed := map[string]map[string]bool{} // handles by CSI driver
	for _, pv := range r.boundVolumes(pod) {
		if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
			if s, err := nodeaffinity.NewNodeSelector(a.Required); err != nil || !s.Match(node) {
				return "volume " + pv.Name + " cannot be used"
			}
		}
		addHandle(needed, pv)
	}
	if len(needed) == 0 {
		return ""
	}
	attached := map[string]map[string]bool{}
	for _, p := range r.withAll(settled, wave) {
		if p.Spec.NodeName == node.Name {
			for _, pv := range r.boundVolumes(p) {
				addHandle(attached, pv)
			}
		}
	}
	for _, driver := range slices.Sorted(maps.Keys(needed)) {
		more := 0
		for handle := range needed[driver] {
			if !attached[driver][handle] {
				more++
			}
		}
		if limit, ok := r.attachLimit(node.Name, driver); ok && more > 0 && len(attached[driver])+more > limit {
			return fmt.Sprintf("driver %s would attach %d volumes of %d", driver, len(attached[driver])+more, limit)
		}
	}
	return ""
}

func addHandle(handles map[string]map[string]bool, pv *corev1.PersistentVolume) {
	if s := pv.Spec.CSI; s != nil {
		if handles[s.Driver] == nil {
			handles[s.Driver] = map[string]bool{}
		}
		handles[s.Driver][s.VolumeHandle] = true
	}
}

// boundVolumes returns the volumes that the pod's claims are bound to. Claims of generic ephemeral
// volumes are not among them: they are deleted with the pod.
func (r *Cluster) boundVolumes(p *corev1.Pod) (out []*corev1.PersistentVolume) {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		for _, claim := range r.Objects.PersistentVolumeClaims {
			if claim.Namespace != p.Namespace || claim.Name != v.PersistentVolumeClaim.ClaimName {
				continue
			}
			for _, pv := range r.Objects.PersistentVolumes {
				if pv.Name == claim.Spec.VolumeName {
					out = append(out, pv)
				}
			}
		}
	}
	return out
}

// attachLimit returns how many volumes of a driver the node can attach; false if it is not limited.
func (r *Cluster) attachLimit(node, driver string) (int, bool) {
	for _, n := range r.Objects.CSINodes {
		if n.Name != node {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
				return int(*d.Allocatable.Count), true
			}
		}
	}
	return 0, false
}
