package volume

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

// These constants are annotations of claims and StorageClasses that the volume controller sets or
// reads.
const (
	bindCompletedAnnotation = "pv.kubernetes.io/bind-completed"
	selectedNode            = "volume.kubernetes.io/selected-node"
	defaultClass            = "storageclass.kubernetes.io/is-default-class"
)

// Storage holds the snapshot's data about volumes, which a move of a pod does not change.
type Storage struct {
	snap           *cluster.Snapshot
	features       *kubeversion.Features
	volumesByClass map[string][]*corev1.PersistentVolume // sorted by name
	classes        map[string]*storagev1.StorageClass
	defaultClass   string // for claims of ephemeral volumes without a StorageClass
	drivers        map[string]*storagev1.CSIDriver
	capacities     map[string][]*storagev1.CSIStorageCapacity // by class, sorted by name
	csiNode        []*storagev1.CSINode                       // by node; nil where there is none
	noPortworx     []bool                                     // by node: in-tree Portworx volumes do not count
	noCSINodes     bool
	limits         []map[string]int64 // by node: volumes per driver
}

// NewStorage indexes the volumes, StorageClasses, drivers and capacities of a snapshot.
func NewStorage(s *cluster.Snapshot) *Storage {
	st := &Storage{
		snap: s, features: &s.Scheduler,
		volumesByClass: map[string][]*corev1.PersistentVolume{},
		classes:        map[string]*storagev1.StorageClass{}, drivers: map[string]*storagev1.CSIDriver{},
		capacities: map[string][]*storagev1.CSIStorageCapacity{},
		csiNode:    make([]*storagev1.CSINode, len(s.Nodes)), limits: make([]map[string]int64, len(s.Nodes)),
		noPortworx: make([]bool, len(s.Nodes)),
	}
	o := s.Objects
	if o == nil {
		st.noCSINodes = true
		return st
	}
	st.noCSINodes = len(o.CSINodes) == 0
	for _, pv := range o.PersistentVolumes {
		class := classOf(pv.Annotations, pv.Spec.StorageClassName)
		st.volumesByClass[class] = append(st.volumesByClass[class], pv)
	}
	for _, list := range st.volumesByClass {
		slices.SortFunc(list, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, d := range o.CSIDrivers {
		st.drivers[d.Name] = d
	}
	for _, c := range o.CSIStorageCapacities {
		st.capacities[c.StorageClassName] = append(st.capacities[c.StorageClassName], c)
	}
	for _, list := range st.capacities {
		slices.SortFunc(list, func(a, b *storagev1.CSIStorageCapacity) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	st.indexClasses(o.StorageClasses)
	st.indexCSINodes(s, o.CSINodes)
	return st
}

// indexClasses indexes the StorageClasses and finds the default one as admission does: the newest
// of those marked as default; the first by name if several are equally new.
func (st *Storage) indexClasses(list []*storagev1.StorageClass) {
	var best *storagev1.StorageClass
	for _, c := range list {
		st.classes[c.Name] = c
		if c.Annotations[defaultClass] != "true" {
			continue
		}
		if best == nil || best.CreationTimestamp.Before(&c.CreationTimestamp) ||
			best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	if best != nil {
		st.defaultClass = best.Name
	}
}

func (st *Storage) indexCSINodes(s *cluster.Snapshot, list []*storagev1.CSINode) {
	for _, c := range list {
		n := s.NodeByName(c.Name)
		if n == nil {
			continue
		}
		st.csiNode[n.ID] = c
		migrated := strings.Split(c.Annotations[corev1.MigratedPluginsAnnotationKey], ",")
		st.noPortworx[n.ID] = st.features.PortworxAnnotated && !slices.Contains(migrated, portworxPlugin)
		for _, d := range c.Spec.Drivers {
			if d.Allocatable == nil || d.Allocatable.Count == nil {
				continue
			}
			if st.limits[n.ID] == nil {
				st.limits[n.ID] = map[string]int64{}
			}
			st.limits[n.ID][d.Name] = int64(*d.Allocatable.Count)
		}
	}
}

// classOfClaim returns the name of the claim's StorageClass.
func classOfClaim(c *corev1.PersistentVolumeClaim) string {
	return classOf(c.Annotations, ptr.Deref(c.Spec.StorageClassName, ""))
}

// classOf returns the name of a StorageClass. The annotation takes precedence over the field.
func classOf(annotations map[string]string, field string) string {
	if name, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return field
}
