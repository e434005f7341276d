package volume

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Disk is a disk that a pod spec names directly. Pods on one node cannot share the disk, unless all
// of them only read from the disk.
type Disk struct {
	id       string
	readOnly bool
}

// diskUses counts the volumes of one disk on each node, and how many of these are read-only.
type diskUses struct {
	volumes, readers map[int]int32
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
	usesByDisk map[string]*diskUses
	claimUses  map[string]int32 // by namespace/name: volumes of pods that are on nodes
}

// NewDiskTable returns a table without pods.
func NewDiskTable() DiskTable {
	return DiskTable{usesByDisk: map[string]*diskUses{}, claimUses: map[string]int32{}}
}

// AdjustDisks changes the number of uses of the disks on a node.
func (t *DiskTable) AdjustDisks(disks []Disk, n int, by int32) {
	for _, d := range disks {
		u := t.usesByDisk[d.id]
		if u == nil {
			u = &diskUses{map[int]int32{}, map[int]int32{}}
			t.usesByDisk[d.id] = u
		}
		u.volumes[n] += by
		if d.readOnly {
			u.readers[n] += by
		}
	}
}

// Conflicts reports whether a pod on the node uses one of the disks in a way that refuses a new
// pod.
func (t *DiskTable) Conflicts(disks []Disk, n int) bool {
	return slices.ContainsFunc(disks, func(d Disk) bool {
		u := t.usesByDisk[d.id]
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
	c := DiskTable{claimUses: maps.Clone(t.claimUses), usesByDisk: make(map[string]*diskUses, len(t.usesByDisk))}
	for id, d := range t.usesByDisk {
		c.usesByDisk[id] = &diskUses{volumes: maps.Clone(d.volumes), readers: maps.Clone(d.readers)}
	}
	return c
}
