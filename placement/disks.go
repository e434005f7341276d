package placement

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// disk is a disk that is named in a pod spec itself and that pods on one node
// cannot share, unless all of them only read.
type disk struct {
	id       string
	readOnly bool
}

// diskUse counts the pods' volumes of one disk on each node.
type diskUse struct {
	all, reading map[int]int32
}

// exclusiveDisks lists such disks of a pod. An image of Ceph is found by any of
// its monitors, so there is an entry for each. Readers of an EBS disk clash too.
func exclusiveDisks(spec *corev1.PodSpec) []disk {
	var out []disk
	for i := range spec.Volumes {
		s := &spec.Volumes[i].VolumeSource
		switch {
		case s.GCEPersistentDisk != nil:
			out = append(out, disk{"gce " + s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.ReadOnly})
		case s.AWSElasticBlockStore != nil:
			out = append(out, disk{"ebs " + s.AWSElasticBlockStore.VolumeID, false})
		case s.ISCSI != nil:
			out = append(out, disk{"iscsi " + s.ISCSI.IQN, s.ISCSI.ReadOnly})
		case s.RBD != nil:
			for _, m := range s.RBD.CephMonitors {
				out = append(out, disk{fmt.Sprintf("rbd %q %q %q", m, s.RBD.RBDPool, s.RBD.RBDImage), s.RBD.ReadOnly})
			}
		}
	}
	return out
}

// diskTable counts by disk, and by claim, the pods that use it.
type diskTable struct {
	disks    map[string]*diskUse
	claimUse map[string]int32 // by namespace/name: volumes of pods that are on nodes
}

func (t *diskTable) shiftDisks(disks []disk, n int, by int32) {
	for _, d := range disks {
		u := t.disks[d.id]
		if u == nil {
			u = &diskUse{map[int]int32{}, map[int]int32{}}
			t.disks[d.id] = u
		}
		u.all[n] += by
		if d.readOnly {
			u.reading[n] += by
		}
	}
}

// diskTaken reports whether a pod on the node has one of the disks in a way that
// keeps the newcomer away.
func (t *diskTable) diskTaken(disks []disk, n int) bool {
	return slices.ContainsFunc(disks, func(d disk) bool {
		u := t.disks[d.id]
		if u == nil {
			return false
		}
		others := u.all[n]
		if d.readOnly {
			others -= u.reading[n]
		}
		return others > 0
	})
}

// shiftClaims counts the uses of claims by pods that are on nodes.
func (t *diskTable) shiftClaims(namespace string, claims []string, by int32) {
	for _, name := range claims {
		t.claimUse[namespace+"/"+name] += by
	}
}

// claimTaken returns the first of the claims that a pod on any node uses; "" if
// there is none.
func (t *diskTable) claimTaken(namespace string, claims []string) string {
	for _, name := range claims {
		if t.claimUse[namespace+"/"+name] > 0 {
			return name
		}
	}
	return ""
}

func (t *diskTable) clone() diskTable {
	c := diskTable{claimUse: maps.Clone(t.claimUse), disks: make(map[string]*diskUse, len(t.disks))}
	for id, d := range t.disks {
		c.disks[id] = &diskUse{all: maps.Clone(d.all), reading: maps.Clone(d.reading)}
	}
	return c
}
