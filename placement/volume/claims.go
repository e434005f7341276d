package volume

import (
	"cmp"
	"fmt"
	"slices"

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

type claimSet struct {
	bound             []*corev1.PersistentVolume
	delayed           []*corev1.PersistentVolumeClaim // unbound claims with WaitForFirstConsumer
	exclusive         []string                        // claims that one pod only may use
	refusedReason     string                          // why no node can take the pod; empty: some can
	unsupportedReason string                          // why no placement can be predicted; empty if it can
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
				setFirst(&cs.unsupportedReason, "claim %s of volume %q is not in the snapshot", name, v.Name)
				continue
			}
			if slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) {
				cs.exclusive = append(cs.exclusive, name)
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
		setFirst(&cs.refusedReason, "claim %s has lost its volume", c.Name)
	case c.DeletionTimestamp != nil:
		setFirst(&cs.refusedReason, "claim %s is being deleted", c.Name)
	case name != "" && bindCompleted:
		st.addBoundClaim(cs, c)
	case name != "":
		setFirst(&cs.refusedReason, "claim %s is not yet bound to volume %s", c.Name, name)
	default:
		st.addUnboundClaim(cs, c, ephemeral)
	}
}

func (st *Storage) addUnboundClaim(cs *claimSet, c *corev1.PersistentVolumeClaim, ephemeral bool) {
	name := classOfClaim(c)
	class := st.classes[name]
	switch {
	case name != "" && class == nil:
		setFirst(&cs.unsupportedReason, "StorageClass %s of its claim %s is not in the snapshot", name, c.Name)
	case class != nil && ptr.Deref(class.VolumeBindingMode, "") == storagev1.VolumeBindingWaitForFirstConsumer:
		cs.delayed = append(cs.delayed, c)
		if st.refusesAttributes(c) {
			setFirst(&cs.refusedReason, "claim %s has a VolumeAttributesClass, which kube-scheduler 1.%d does not bind",
				c.Name, st.snap.ServerMinor)
		}
	case ephemeral:
		setFirst(&cs.unsupportedReason, "its ephemeral volume is provisioned before the pod is scheduled, so its zone is not known")
	default:
		setFirst(&cs.refusedReason, "claim %s is not bound, and its StorageClass does not wait for the pod", c.Name)
	}
}

// refusesAttributes reports whether VolumeBinding fails because the unbound claim names a
// VolumeAttributesClass. A claim with a selected node is provisioned, so it is not compared.
func (st *Storage) refusesAttributes(c *corev1.PersistentVolumeClaim) bool {
	_, chosen := c.Annotations[selectedNode]
	return !st.features.VolumeAttributesClass && !chosen && ptr.Deref(c.Spec.VolumeAttributesClassName, "") != ""
}

func (st *Storage) addBoundClaim(cs *claimSet, c *corev1.PersistentVolumeClaim) {
	pv := st.snap.PersistentVolume(c.Spec.VolumeName)
	if pv == nil {
		setFirst(&cs.unsupportedReason, "volume %s of its claim %s is not in the snapshot", c.Spec.VolumeName, c.Name)
		return
	}
	if _, inTree := inTreeAttachable(&pv.Spec.PersistentVolumeSource, ""); inTree {
		setFirst(&cs.unsupportedReason, "volume %s is an in-tree volume, and the scheduler's translation of its zone is not supported", pv.Name)
		return
	}
	cs.bound = append(cs.bound, pv)
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
func (st *Storage) PlacePod(pod *corev1.Pod, countLimits bool) (v Placement) {
	if len(pod.Spec.Volumes) == 0 {
		return v
	}
	if countLimits {
		v.Attach = st.attachables(pod, func(v *corev1.Volume) *corev1.PersistentVolumeClaim {
			if v.Ephemeral != nil {
				return st.newEphemeralClaim(pod, v)
			}
			return st.snap.Claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		})
	}
	cs := st.newClaimSet(pod)
	if len(v.Attach) > 0 && st.noCSINodes {
		setFirst(&cs.unsupportedReason, "it has volumes to attach, but no CSINode is in the snapshot, so volume limits are not known")
	}
	v.ExclusiveClaims, v.RefusedReason, v.UnsupportedReason = cs.exclusive, cs.refusedReason, cs.unsupportedReason
	if v.UnsupportedReason != "" {
		return v
	}
	if len(cs.bound) > 0 {
		v.InZone = make([]bool, len(st.snap.Nodes))
		for n := range v.InZone {
			v.InZone[n] = isInVolumeZone(cs.bound, st.snap.Nodes[n].Object.Labels)
		}
	}
	if len(cs.bound)+len(cs.delayed) == 0 {
		return v
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
	return v
}
