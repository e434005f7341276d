package volume

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// claimOf returns the claim of a volume of a pod on a node; nil if the snapshot does not have it.
func claimOf(s *cluster.Snapshot, p *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	if v.PersistentVolumeClaim != nil {
		return s.Claim(p.Namespace, v.PersistentVolumeClaim.ClaimName)
	}
	c := s.Claim(p.Namespace, p.Name+"-"+v.Name)
	if c == nil || !metav1.IsControlledBy(c, p) {
		return nil
	}
	return c
}

// newEphemeralClaim returns the claim that the replacement gets for an ephemeral volume. If the
// template names no StorageClass, the claim gets the default one.
func (st *Storage) newEphemeralClaim(p *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	t := v.Ephemeral.VolumeClaimTemplate
	if t == nil {
		return nil
	}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
	c.Namespace, c.Name = p.Namespace, "replacement of "+p.Name+"-"+v.Name
	if _, old := c.Annotations[corev1.BetaStorageClassAnnotation]; !old && c.Spec.StorageClassName == nil && st.defaultClass != "" {
		c.Spec.StorageClassName = &st.defaultClass
	}
	return c
}

// claimSet lists the claims of a pod that decide where it fits.
type claimSet struct {
	Placement
	bound   []*corev1.PersistentVolume
	delayed []*corev1.PersistentVolumeClaim // unbound claims with WaitForFirstConsumer
}

func (st *Storage) newClaimSet(p *corev1.Pod) claimSet {
	var cs claimSet
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			name := v.PersistentVolumeClaim.ClaimName
			c := st.snap.Claim(p.Namespace, name)
			if c == nil {
				setFirst(&cs.UnsupportedReason, "claim %s of volume %q is not in the snapshot", name, v.Name)
				continue
			}
			if slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) {
				cs.ExclusiveClaims = append(cs.ExclusiveClaims, name)
			}
			st.addClaim(&cs, c, false)
		case v.Ephemeral != nil:
			if c := st.newEphemeralClaim(p, v); c != nil {
				st.addClaim(&cs, c, true)
			}
		}
	}
	return cs
}

// setFirst sets the reason, unless the reason is already set.
func setFirst(reason *string, format string, args ...any) {
	*reason = cmp.Or(*reason, fmt.Sprintf(format, args...))
}

// addClaim adds a claim to the list of its state, or sets the reason why it cannot be used.
func (st *Storage) addClaim(cs *claimSet, c *corev1.PersistentVolumeClaim, ephemeral bool) {
	_, bindCompleted := c.Annotations[bindCompletedAnnotation]
	name := c.Spec.VolumeName
	switch {
	case c.Status.Phase == corev1.ClaimLost:
		setFirst(&cs.RefusedReason, "claim %s has lost its volume", c.Name)
	case c.DeletionTimestamp != nil:
		setFirst(&cs.RefusedReason, "claim %s is being deleted", c.Name)
	case name != "" && bindCompleted:
		st.addBoundClaim(cs, c)
	case name != "":
		setFirst(&cs.RefusedReason, "claim %s is not yet bound to volume %s", c.Name, name)
	default:
		st.addUnboundClaim(cs, c, ephemeral)
	}
}

func (st *Storage) addUnboundClaim(cs *claimSet, c *corev1.PersistentVolumeClaim, ephemeral bool) {
	name := classOfClaim(c)
	class := st.classes[name]
	switch {
	case name != "" && class == nil:
		setFirst(&cs.UnsupportedReason, "StorageClass %s of its claim %s is not in the snapshot", name, c.Name)
	case class != nil && ptr.Deref(class.VolumeBindingMode, "") == storagev1.VolumeBindingWaitForFirstConsumer:
		cs.delayed = append(cs.delayed, c)
		_, chosen := c.Annotations[selectedNode] // then VolumeBinding does not compare it, because it is provisioned
		if !st.snap.Scheduler.VolumeAttributesClass && !chosen && ptr.Deref(c.Spec.VolumeAttributesClassName, "") != "" {
			setFirst(&cs.RefusedReason, "claim %s has a VolumeAttributesClass, which kube-scheduler 1.%d does not bind",
				c.Name, st.snap.ServerMinor)
		}
	case ephemeral:
		setFirst(&cs.UnsupportedReason, "its ephemeral volume is provisioned before the pod is scheduled, so its zone is not known")
	default:
		setFirst(&cs.RefusedReason, "claim %s is not bound, and its StorageClass does not wait for the pod", c.Name)
	}
}

func (st *Storage) addBoundClaim(cs *claimSet, c *corev1.PersistentVolumeClaim) {
	switch pv := st.snap.PersistentVolume(c.Spec.VolumeName); {
	case pv == nil:
		setFirst(&cs.UnsupportedReason, "volume %s of its claim %s is not in the snapshot", c.Spec.VolumeName, c.Name)
	case inTreeAttachable(&pv.Spec.PersistentVolumeSource, "").id != "":
		setFirst(&cs.UnsupportedReason, "volume %s is an in-tree volume, and the scheduler's translation of its zone is not supported", pv.Name)
	default:
		cs.bound = append(cs.bound, pv)
	}
}

// Placement holds the results for the volumes of a new pod that do not depend on other pods.
type Placement struct {
	Attach            []AttachableVolume // volumes that are counted against the limits of nodes
	ExclusiveClaims   []string           // names of the claims with access mode ReadWriteOncePod
	RefusedReason     string             // why VolumeBinding refuses every node; empty if it does not
	UnsupportedReason string             // why the volumes cannot be placed; empty if they can
	InZone            []bool             // VolumeZone, by node; nil: every node passes
	Bindable          []bool             // VolumeBinding, by node; nil: every node passes
	Score             []int8             // score of VolumeBinding, by node; nil: 0 everywhere
}

// PlacePod checks the volumes of a new pod on every node. PlacePod counts volume limits only if
// countLimits is true.
func (st *Storage) PlacePod(pod *corev1.Pod, countLimits bool) Placement {
	cs := st.newClaimSet(pod)
	v := &cs.Placement
	if countLimits {
		v.Attach = st.attachables(pod, func(v *corev1.Volume) *corev1.PersistentVolumeClaim {
			if v.Ephemeral != nil {
				return st.newEphemeralClaim(pod, v)
			}
			return st.snap.Claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		})
	}
	if len(v.Attach) > 0 && (st.snap.Objects == nil || len(st.snap.Objects.CSINodes) == 0) {
		setFirst(&v.UnsupportedReason, "it has volumes to attach, but no CSINode is in the snapshot, so volume limits are not known")
	}
	if v.UnsupportedReason != "" {
		return *v
	}
	if len(cs.bound) > 0 {
		v.InZone = make([]bool, len(st.snap.Nodes))
		for n := range v.InZone {
			v.InZone[n] = isInVolumeZone(cs.bound, st.snap.Nodes[n].Object.Labels)
		}
	}
	if len(cs.bound)+len(cs.delayed) == 0 {
		return *v
	}
	v.Bindable = make([]bool, len(st.snap.Nodes))
	for n := range v.Bindable {
		ok, score := st.bindOnNode(&cs, &st.snap.Nodes[n])
		if score > 0 && v.Score == nil {
			v.Score = make([]int8, len(st.snap.Nodes))
		}
		if v.Bindable[n] = ok; v.Score != nil {
			v.Score[n] = int8(score)
		}
	}
	return *v
}

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
	snap   *cluster.Snapshot
	shared map[string]*Use // by ID
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
	u := &Users{snap: s, shared: map[string]*Use{}}
	if s.Objects == nil {
		return u
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Ordinary || p.Terminal || p.Object.Spec.NodeName == "" {
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
		names := make([]string, len(use.nodes))
		for i, n := range use.nodes {
			if names[i] = "a node that is gone"; n != cluster.NoNode {
				names[i] = s.Nodes[n].Name
			}
		}
		slices.Sort(names)
		use.Words = "unable to attach " + use.Words + ", which is in use on " + strings.Join(names, " and ") + " (one node at a time)"
	}
	return u
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
		if slices.ContainsFunc(u.snap.Objects.CSIDrivers, func(d *storagev1.CSIDriver) bool {
			return d.Name == s.CSI.Driver && !ptr.Deref(d.Spec.AttachRequired, true)
		}) {
			return ""
		}
		return newAttachableVolume(s.CSI.Driver, s.CSI.VolumeHandle, false).id
	}
	if a := inTreeAttachable(s, "disk "); a.id != "" {
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
	return inlineAttachable(v).id
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
