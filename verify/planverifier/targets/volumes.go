package targets

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// volumeInUse returns why the node cannot attach a volume of the pod that one node at a time can attach: another pod
// uses it, or it is attached elsewhere. All pods that share such a volume stay where they are.
func (c Cluster) volumeInUse(p *corev1.Pod, n *corev1.Node) string {
	for _, v := range p.Spec.Volumes {
		disk := diskOf(c.Objects, p, v)
		if disk == "" || v.Ephemeral != nil { // the replacement gets another ephemeral volume
			continue
		}
		for _, q := range c.Pods {
			elsewhere := q.Spec.NodeName != n.Name || p.Spec.NodeName != n.Name
			if q != p && q.Spec.NodeName != "" && elsewhere && !isTerminal(q) &&
				slices.ContainsFunc(q.Spec.Volumes, func(o corev1.Volume) bool { return diskOf(c.Objects, q, o) == disk }) {
				return "cannot attach volume " + v.Name + ", which " + q.Name + " uses"
			}
		}
		for _, a := range c.Objects.VolumeAttachments {
			if pv := a.Spec.Source.PersistentVolumeName; pv != nil && a.Spec.NodeName != p.Spec.NodeName && diskBehind(c.Objects, *pv) == disk {
				return "cannot attach volume " + v.Name + ", which is attached to " + a.Spec.NodeName
			}
		}
	}
	return ""
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// diskOf identifies a volume of a pod that can be attached to one node at a time. It returns "" for other volumes.
func diskOf(o *cluster.Objects, p *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.AWSElasticBlockStore != nil:
		return "EBS " + v.AWSElasticBlockStore.VolumeID
	case v.AzureDisk != nil:
		return "Azure " + v.AzureDisk.DiskName
	case v.Cinder != nil:
		return "Cinder " + v.Cinder.VolumeID
	case v.VsphereVolume != nil:
		return "vSphere " + v.VsphereVolume.VolumePath
	}
	if claim := ClaimOf(o, p, v); claim != nil {
		return diskBehind(o, claim.Spec.VolumeName)
	}
	return ""
}

// diskBehind is diskOf for a PersistentVolume.
func diskBehind(o *cluster.Objects, name string) string {
	i := slices.IndexFunc(o.PersistentVolumes, func(pv *corev1.PersistentVolume) bool { return pv.Name == name })
	if i < 0 {
		return ""
	}
	s := &o.PersistentVolumes[i].Spec
	switch {
	case len(s.AccessModes) == 0 || slices.Contains(s.AccessModes, corev1.ReadWriteMany) || slices.Contains(s.AccessModes, corev1.ReadOnlyMany):
	case s.CSI != nil && !slices.ContainsFunc(o.CSIDrivers, func(d *storagev1.CSIDriver) bool {
		return d.Name == s.CSI.Driver && d.Spec.AttachRequired != nil && !*d.Spec.AttachRequired
	}):
		return s.CSI.Driver + " " + s.CSI.VolumeHandle
	case s.ISCSI != nil || s.FC != nil || s.FlexVolume != nil || s.AWSElasticBlockStore != nil || s.GCEPersistentDisk != nil ||
		s.AzureDisk != nil || s.Cinder != nil || s.VsphereVolume != nil:
		return "volume " + name
	}
	return ""
}

// ClaimOf returns the claim of a volume, or nil.
func ClaimOf(o *cluster.Objects, p *corev1.Pod, v corev1.Volume) *corev1.PersistentVolumeClaim {
	name := p.Name + "-" + v.Name // the claim of a generic ephemeral volume
	if v.PersistentVolumeClaim != nil {
		name = v.PersistentVolumeClaim.ClaimName
	} else if v.Ephemeral == nil {
		return nil
	}
	for _, claim := range o.PersistentVolumeClaims {
		if claim.Namespace == p.Namespace && claim.Name == name {
			return claim
		}
	}
	return nil
}
