package volume

import (
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Users tells where the volumes are in use that can be attached to one node only at a time. The attach-detach
// controller refuses such a volume to every other node until the last pod that uses it is gone, and the scheduler does
// not look.
//
// The kind, by IsMultiAttachAllowed of that controller: PersistentVolumes whose access modes include neither
// ReadWriteMany nor ReadOnlyMany, as filesystem or block, of a CSI driver that needs attaching (an unknown one does),
// of iSCSI, Fibre Channel, FlexVolume or a cloud disk of an in-tree plugin; and Azure, Cinder, EBS and vSphere disks in
// the pod spec. Pods that have not ended count, terminating ones included, and so do VolumeAttachments. Nothing
// enforces ReadWriteOnce across nodes for other volumes, such as NFS or those of drivers without attachRequired.
type Users struct {
	snap    *cluster.Snapshot
	drivers map[string]*storagev1.CSIDriver
	shared  map[string]*Use // by ID
}

// Use is the use of a volume by several pods, or on several nodes.
type Use struct {
	ID string
	// Words says why other nodes cannot attach the volume, as the words that follow "the node is".
	Words string
	pods  int
	nodes []cluster.NodeID // of these pods, and those with a VolumeAttachment; NoNode for a node outside the snapshot
}

// Excludes reports whether the volume cannot be attached to the node. If it is in use on two nodes, one of them waits
// for the other, and no node is certain to get it.
func (u *Use) Excludes(n cluster.NodeID) bool { return len(u.nodes) != 1 || u.nodes[0] != n }

func (u *Use) addNode(n cluster.NodeID) {
	if !slices.Contains(u.nodes, n) {
		u.nodes = append(u.nodes, n)
	}
}

// NewUsers reads the volumes of the pods and the VolumeAttachments of the snapshot.
func NewUsers(s *cluster.Snapshot) *Users {
	u := &Users{snap: s, drivers: map[string]*storagev1.CSIDriver{}, shared: map[string]*Use{}}
	if s.Objects == nil {
		return u
	}
	for _, d := range s.Objects.CSIDrivers {
		u.drivers[d.Name] = d
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal || p.Object.Spec.NodeName == "" {
			continue
		}
		for j := range p.Object.Spec.Volumes {
			id, name := u.exclusive(p.Object, &p.Object.Spec.Volumes[j])
			if id == "" {
				continue
			}
			use := u.shared[id]
			if use == nil {
				use = &Use{ID: id, Words: name}
				u.shared[id] = use
			}
			use.pods++
			use.addNode(p.Node)
		}
	}
	for _, va := range s.Objects.VolumeAttachments {
		if use := u.shared[u.attachedID(va)]; use != nil {
			at := cluster.NoNode
			if n := s.NodeByName(va.Spec.NodeName); n != nil {
				at = n.ID
			}
			use.addNode(at)
		}
	}
	maps.DeleteFunc(u.shared, func(_ string, use *Use) bool { return use.pods == 1 && len(use.nodes) == 1 })
	for _, use := range u.shared {
		use.Words = "unable to attach " + use.Words + ", which is in use on " + u.nodeNames(use) + " (one node at a time)"
	}
	return u
}

func (u *Users) nodeNames(use *Use) string {
	var names []string
	for _, n := range use.nodes {
		if n == cluster.NoNode {
			names = append(names, "a node that is gone")
		} else {
			names = append(names, u.snap.Nodes[n].Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " and ")
}

// Shared returns the uses of the pod's volumes in which the pod is not alone. The replacement of the pod gets new
// volumes in place of its generic ephemeral volumes, so they are left out.
func (u *Users) Shared(p *corev1.Pod) iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		if len(u.shared) == 0 {
			return
		}
		for i := range p.Spec.Volumes {
			v := &p.Spec.Volumes[i]
			if v.Ephemeral != nil {
				continue
			}
			id, _ := u.exclusive(p, v)
			if use := u.shared[id]; use != nil && !yield(use) {
				return
			}
		}
	}
}

// exclusive returns the ID and the name of a volume that can be attached to one node only, and "" for other volumes.
func (u *Users) exclusive(p *corev1.Pod, v *corev1.Volume) (id, name string) {
	if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
		return exclusiveInline(v), "volume " + v.Name
	}
	claim := claimOf(u.snap, p, v)
	if claim == nil {
		return "", ""
	}
	pv := u.snap.PersistentVolume(claim.Spec.VolumeName)
	if pv == nil || slices.ContainsFunc(pv.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany
	}) || len(pv.Spec.AccessModes) == 0 {
		return "", ""
	}
	return u.attachableID(pv), "claim " + claim.Name
}

// attachableID identifies a PersistentVolume that must be attached to nodes. It returns "" for other volumes. Two
// PersistentVolumes of one driver and handle are one volume.
func (u *Users) attachableID(pv *corev1.PersistentVolume) string {
	s := &pv.Spec.PersistentVolumeSource
	if s.CSI != nil {
		if d := u.drivers[s.CSI.Driver]; d != nil && !ptr.Deref(d.Spec.AttachRequired, true) {
			return ""
		}
		return newAttachableVolume(s.CSI.Driver, s.CSI.VolumeHandle, false).id
	}
	if a, ok := inTreeAttachable(s, "disk "); ok {
		return a.id
	}
	if s.ISCSI != nil || s.FC != nil || s.FlexVolume != nil || s.VsphereVolume != nil {
		return "PersistentVolume " + pv.Name
	}
	return ""
}

// exclusiveInline identifies a cloud disk in a pod spec that can be attached to one node only. Migration to CSI reads
// it as ReadWriteOnce. VolumeRestrictions keeps two pods with a GCE disk apart, and they may all read it on several
// nodes.
func exclusiveInline(v *corev1.Volume) string {
	if v.VsphereVolume != nil {
		return "vSphere " + v.VsphereVolume.VolumePath
	}
	if v.AWSElasticBlockStore == nil && v.AzureDisk == nil && v.Cinder == nil {
		return ""
	}
	a, _ := inlineAttachable(v)
	return a.id
}

// attachedID returns the ID of the volume of a VolumeAttachment, or "".
func (u *Users) attachedID(va *storagev1.VolumeAttachment) string {
	if name := va.Spec.Source.PersistentVolumeName; name != nil {
		if pv := u.snap.PersistentVolume(*name); pv != nil {
			return u.attachableID(pv)
		}
	}
	if inline := va.Spec.Source.InlineVolumeSpec; inline != nil && inline.CSI != nil {
		return newAttachableVolume(inline.CSI.Driver, inline.CSI.VolumeHandle, false).id
	}
	return ""
}
