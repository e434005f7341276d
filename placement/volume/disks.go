package volume

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Disk is a disk that is named in a pod spec itself and that pods on one node
// cannot share, unless all of them only read.
type Disk struct {
	id       string
	readOnly bool
}

// DiskUse counts the pods' volumes of one disk on each node.
type DiskUse struct {
	volumes, readers map[int]int32
}

// ExclusiveDisks lists such disks of a pod. An image of Ceph is found by any of
// its monitors, so there is an entry for each. Readers of an EBS disk clash too.
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

// DiskTable counts by disk, and by claim, the pods that use it.
type DiskTable struct {
	ByID     map[string]*DiskUse
	ClaimUse map[string]int32 // by namespace/name: volumes of pods that are on nodes
}

// NewDiskTable returns a table without pods.
func NewDiskTable() DiskTable {
	return DiskTable{ByID: map[string]*DiskUse{}, ClaimUse: map[string]int32{}}
}

func (t *DiskTable) AdjustDisks(disks []Disk, n int, by int32) {
	for _, d := range disks {
		u := t.ByID[d.id]
		if u == nil {
			u = &DiskUse{map[int]int32{}, map[int]int32{}}
			t.ByID[d.id] = u
		}
		u.volumes[n] += by
		if d.readOnly {
			u.readers[n] += by
		}
	}
}

// Conflicts reports whether a pod on the node has one of the disks in a way that
// keeps the newcomer away.
func (t *DiskTable) Conflicts(disks []Disk, n int) bool {
	return slices.ContainsFunc(disks, func(d Disk) bool {
		u := t.ByID[d.id]
		if u == nil {
			return false
		}
		others := u.volumes[n]
		if d.readOnly {
			others -= u.readers[n]
		}
		return others > 0
	})
}

// AdjustClaims counts the uses of claims by pods that are on nodes.
func (t *DiskTable) AdjustClaims(namespace string, claims []string, by int32) {
	for _, name := range claims {
		t.ClaimUse[namespace+"/"+name] += by
	}
}

// ClaimInUse returns the first of the claims that a pod on any node uses; "" if
// there is none.
func (t *DiskTable) ClaimInUse(namespace string, claims []string) string {
	for _, name := range claims {
		if t.ClaimUse[namespace+"/"+name] > 0 {
			return name
		}
	}
	return ""
}

func (t *DiskTable) Clone() DiskTable {
	c := DiskTable{ClaimUse: maps.Clone(t.ClaimUse), ByID: make(map[string]*DiskUse, len(t.ByID))}
	for id, d := range t.ByID {
		c.ByID[id] = &DiskUse{volumes: maps.Clone(d.volumes), readers: maps.Clone(d.readers)}
	}
	return c
}
