package volume

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
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
	volumesByClass map[string][]*corev1.PersistentVolume // sorted by name
	classes        map[string]*storagev1.StorageClass
	defaultClass   string // for claims of ephemeral volumes without a StorageClass
	drivers        map[string]*storagev1.CSIDriver
	capacities     map[string][]*storagev1.CSIStorageCapacity // by class, sorted by name
	csiNode        []*storagev1.CSINode                       // by node; nil where there is none
	noPortworx     []bool                                     // by node: in-tree Portworx volumes do not count
	limits         []map[string]int64                         // by node: volumes per driver
}

// NewStorage indexes the volumes, StorageClasses, drivers and capacities of a snapshot.
func NewStorage(s *cluster.Snapshot) *Storage {
	st := &Storage{
		snap:           s,
		volumesByClass: map[string][]*corev1.PersistentVolume{},
		classes:        map[string]*storagev1.StorageClass{}, drivers: map[string]*storagev1.CSIDriver{},
		capacities: map[string][]*storagev1.CSIStorageCapacity{},
		csiNode:    make([]*storagev1.CSINode, len(s.Nodes)), limits: make([]map[string]int64, len(s.Nodes)),
		noPortworx: make([]bool, len(s.Nodes)),
	}
	o := s.Objects
	if o == nil {
		return st
	}
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
		st.noPortworx[n.ID] = st.snap.Scheduler.PortworxAnnotated && !slices.Contains(migrated, portworxPlugin)
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

// Disk is a disk that a pod spec names directly. Pods on one node cannot share the disk, unless all
// of them only read from the disk.
type Disk struct {
	id       string
	readOnly bool
}

// ExclusiveDisks returns the disks of a pod. A Ceph image has one entry per monitor, because each
// monitor identifies the image. EBS disks conflict even if both pods only read.
func ExclusiveDisks(spec *corev1.PodSpec) []Disk {
	var out []Disk
	for i := range spec.Volumes {
		s := &spec.Volumes[i].VolumeSource
		switch {
		case s.GCEPersistentDisk != nil:
			out = append(out, Disk{"gce " + s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.ReadOnly})
		case s.AWSElasticBlockStore != nil:
			out = append(out, Disk{"ebs " + s.AWSElasticBlockStore.VolumeID, false})
		case s.ISCSI != nil:
			out = append(out, Disk{"iscsi " + s.ISCSI.IQN, s.ISCSI.ReadOnly})
		case s.RBD != nil:
			for _, m := range s.RBD.CephMonitors {
				out = append(out, Disk{fmt.Sprintf("rbd %q %q %q", m, s.RBD.RBDPool, s.RBD.RBDImage), s.RBD.ReadOnly})
			}
		}
	}
	return out
}

// DiskTable counts the pods that use each disk and each claim.
type DiskTable struct {
	usesByDisk map[Disk]map[int]int32 // by node
	claimUses  map[string]int32       // by namespace/name: volumes of pods that are on nodes
}

// NewDiskTable returns a table without pods.
func NewDiskTable() DiskTable {
	return DiskTable{usesByDisk: map[Disk]map[int]int32{}, claimUses: map[string]int32{}}
}

// AdjustDisks changes the number of uses of the disks on a node.
func (t *DiskTable) AdjustDisks(disks []Disk, n int, by int32) {
	for _, d := range disks {
		if t.usesByDisk[d] == nil {
			t.usesByDisk[d] = map[int]int32{}
		}
		t.usesByDisk[d][n] += by
	}
}

// Conflicts reports whether a pod on the node uses one of the disks in a way that refuses a new
// pod.
func (t *DiskTable) Conflicts(disks []Disk, n int) bool {
	return slices.ContainsFunc(disks, func(d Disk) bool {
		return t.usesByDisk[Disk{d.id, false}][n] > 0 || !d.readOnly && t.usesByDisk[Disk{d.id, true}][n] > 0
	})
}

// AdjustClaims changes the number of uses of the claims.
func (t *DiskTable) AdjustClaims(namespace string, claims []string, by int32) {
	for _, name := range claims {
		t.claimUses[namespace+"/"+name] += by
	}
}

// ClaimInUse returns the first of the claims that a pod on any node uses; empty if no claim is in
// use.
func (t *DiskTable) ClaimInUse(namespace string, claims []string) string {
	for _, name := range claims {
		if t.claimUses[namespace+"/"+name] > 0 {
			return name
		}
	}
	return ""
}

// Clone returns a copy of the table.
func (t *DiskTable) Clone() DiskTable {
	c := DiskTable{claimUses: maps.Clone(t.claimUses), usesByDisk: maps.Clone(t.usesByDisk)}
	for d, uses := range c.usesByDisk {
		c.usesByDisk[d] = maps.Clone(uses)
	}
	return c
}
