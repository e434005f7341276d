package volume

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/ptr"
)

// zoneLabels are the labels that place a volume without node affinity.
var zoneLabels = []string{
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
}

// newerLabel maps each deprecated label to its current name.
var newerLabel = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
}

// isInVolumeZone is the filter VolumeZone. A node without any zone label passes the filter.
func isInVolumeZone(volumes []*corev1.PersistentVolume, node map[string]string) bool {
	if !slices.ContainsFunc(zoneLabels, func(k string) bool { _, ok := node[k]; return ok }) {
		return true
	}
	for _, pv := range volumes {
		for _, key := range zoneLabels {
			zones, ok := zonesOf(pv.Labels, key)
			if !ok {
				continue
			}
			at, known := node[key]
			if newer := newerLabel[key]; !known && newer != "" {
				at, known = node[newer]
			}
			if !known || !slices.Contains(zones, at) {
				return false
			}
		}
	}
	return true
}

// zonesOf returns the zones of a volume from its label. Two underscores separate the zones. A label
// with an empty zone is ignored.
func zonesOf(l map[string]string, key string) ([]string, bool) {
	value, ok := l[key]
	zones := strings.Split(value, "__")
	for i := range zones {
		zones[i] = strings.TrimSpace(zones[i])
	}
	return zones, ok && !slices.Contains(zones, "")
}

func isReachable(pv *corev1.PersistentVolume, node *corev1.Node) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	// The node affinity of a volume matches labels only, never the node's name.
	bare := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: node.Labels}}
	ok, err := schedulinghelper.MatchNodeSelectorTerms(bare, pv.Spec.NodeAffinity.Required)
	return ok && err == nil
}

// capacityUse is the storage of one StorageClass that a pod would use on a node, in bytes.
type capacityUse struct{ requested, capacity int64 }

// bindOnNode is the filter and the score of VolumeBinding for one node. The node must reach the
// bound volumes, and each unbound claim must find an available volume or allow provisioning.
func (st *Storage) bindOnNode(cs *claimSet, node *cluster.Node) (bool, int64) {
	for _, pv := range cs.bound {
		if !isReachable(pv, node.Object) {
			return false, 0
		}
	}
	var match, provision []*corev1.PersistentVolumeClaim
	for _, c := range cs.delayed {
		at, chosen := c.Annotations[selectedNode]
		switch {
		case !chosen:
			match = append(match, c)
		case at != node.Name:
			return false, 0
		default:
			provision = append(provision, c)
		}
	}
	static, missing := st.matchVolumes(match, node.Object)
	dynamic, ok := st.canProvision(append(provision, missing...), node.Object)
	switch {
	case !ok:
		return false, 0
	case !st.snap.Scheduler.StorageCapacityScored:
		return true, 0
	case len(static) > 0:
		return true, capacityScore(static)
	}
	return true, capacityScore(dynamic)
}

// matchVolumes assigns the smallest matching volume to each claim, starting with the smallest
// claim. The results are the used storage by StorageClass and the claims without a matching volume.
func (st *Storage) matchVolumes(claims []*corev1.PersistentVolumeClaim, node *corev1.Node) (
	map[string]capacityUse, []*corev1.PersistentVolumeClaim) {
	slices.SortStableFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int {
		x, y := a.Spec.Resources.Requests[corev1.ResourceStorage], b.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	uses, taken := map[string]capacityUse{}, map[string]bool{}
	var missing []*corev1.PersistentVolumeClaim
	for _, c := range claims {
		pv := st.matchVolume(c, node, taken)
		if pv == nil {
			missing = append(missing, c)
			continue
		}
		taken[pv.Name] = true
		u := uses[pv.Spec.StorageClassName]
		want, has := c.Spec.Resources.Requests[corev1.ResourceStorage], pv.Spec.Capacity[corev1.ResourceStorage]
		uses[pv.Spec.StorageClassName] = capacityUse{u.requested + want.Value(), u.capacity + has.Value()}
	}
	return uses, missing
}

// matchVolume returns the volume that is reserved for the claim, or else the smallest available
// volume; nil if no volume matches.
func (st *Storage) matchVolume(c *corev1.PersistentVolumeClaim, node *corev1.Node, taken map[string]bool) *corev1.PersistentVolume {
	selector := labels.Everything()
	if c.Spec.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil {
			return nil
		}
	}
	var best *corev1.PersistentVolume
	for _, pv := range st.volumesByClass[classOfClaim(c)] {
		if taken[pv.Name] || pv.DeletionTimestamp != nil || !matchesClaim(pv, c) {
			continue
		}
		switch r := pv.Spec.ClaimRef; {
		case r != nil && (r.Namespace != c.Namespace || r.Name != c.Name || r.UID != "" && r.UID != c.UID):
			continue
		case r != nil && !isReachable(pv, node):
			return nil
		case r != nil:
			return pv
		}
		if pv.Status.Phase != corev1.VolumeAvailable || !selector.Matches(labels.Set(pv.Labels)) ||
			!allowsAccessModes(pv, c) || best != nil && capacityOf(best) <= capacityOf(pv) || !isReachable(pv, node) {
			continue
		}
		best = pv
	}
	return best
}

func capacityOf(pv *corev1.PersistentVolume) int64 {
	q := pv.Spec.Capacity[corev1.ResourceStorage]
	return q.Value()
}

// matchesClaim reports whether the volume has the size, the volume mode and the
// VolumeAttributesClass that the claim requests.
func matchesClaim(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	want := c.Spec.Resources.Requests[corev1.ResourceStorage]
	has := pv.Spec.Capacity[corev1.ResourceStorage]
	const filesystem = corev1.PersistentVolumeFilesystem
	return has.Cmp(want) >= 0 && ptr.Deref(pv.Spec.VolumeMode, filesystem) == ptr.Deref(c.Spec.VolumeMode, filesystem) &&
		ptr.Deref(pv.Spec.VolumeAttributesClassName, "") == ptr.Deref(c.Spec.VolumeAttributesClassName, "")
}

func allowsAccessModes(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(c.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return !slices.Contains(pv.Spec.AccessModes, m)
	})
}

// canProvision reports whether volumes for all the claims can be provisioned for the node. The
// first result is the used capacity by StorageClass, as far as it is known.
func (st *Storage) canProvision(claims []*corev1.PersistentVolumeClaim, node *corev1.Node) (map[string]capacityUse, bool) {
	uses := map[string]capacityUse{}
	for _, c := range claims {
		class := st.classes[classOfClaim(c)]
		if class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner" || !allowsTopology(class, node.Labels) {
			return nil, false
		}
		capacity, ok := st.capacityFor(c, class, node)
		if !ok {
			return nil, false
		}
		if capacity == nil || capacity.Capacity == nil {
			continue
		}
		want := c.Spec.Resources.Requests[corev1.ResourceStorage]
		uses[class.Name] = capacityUse{uses[class.Name].requested + want.Value(), capacity.Capacity.Value()}
	}
	return uses, true
}

// allowsTopology reports whether the StorageClass provisions volumes for nodes with these labels.
// All expressions of at least one topology term must match.
func allowsTopology(class *storagev1.StorageClass, node map[string]string) bool {
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	return slices.ContainsFunc(class.AllowedTopologies, func(t corev1.TopologySelectorTerm) bool {
		for _, e := range t.MatchLabelExpressions {
			if at, ok := node[e.Key]; !ok || !slices.Contains(e.Values, at) {
				return false
			}
		}
		return len(t.MatchLabelExpressions) > 0
	})
}

// capacityFor returns a CSIStorageCapacity that the node can reach and that has enough free
// storage. If the driver does not publish capacities, the results are nil and true.
func (st *Storage) capacityFor(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node *corev1.Node) (
	*storagev1.CSIStorageCapacity, bool) {
	want, asks := c.Spec.Resources.Requests[corev1.ResourceStorage]
	d := st.drivers[class.Provisioner]
	if !asks || d == nil || !ptr.Deref(d.Spec.StorageCapacity, false) {
		return nil, true
	}
	for _, r := range st.capacities[class.Name] {
		largest := cmp.Or(r.MaximumVolumeSize, r.Capacity)
		if largest == nil || largest.Value() < want.Value() || r.NodeTopology == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(r.NodeTopology)
		if err == nil && selector.Matches(labels.Set(node.Labels)) {
			return r, true
		}
	}
	return nil, false
}

// capacityScore returns the mean free share of the StorageClasses, in percent.
func capacityScore(uses map[string]capacityUse) int64 {
	var sum int64
	for _, u := range uses {
		if u.capacity > 0 && u.requested <= u.capacity {
			sum += scheduler.MaxScore - u.requested*scheduler.MaxScore/u.capacity
		}
	}
	if len(uses) == 0 {
		return 0
	}
	return int64(math.Round(float64(sum) / float64(len(uses))))
}
