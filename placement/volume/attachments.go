package volume

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

// AttachableVolume is a volume that counts against a driver's limit on a node. Two volumes with the
// same driver and handle are one volume, even if several pods use the volume.
type AttachableVolume struct {
	driver string
	id     string // driver and handle
	// translated is true for an in-tree volume. A node with a CSINode attaches in-tree volumes
	// through the CSI driver.
	translated bool
}

func newAttachableVolume(driver, handle string, translated bool) AttachableVolume {
	return AttachableVolume{driver, driver + "/" + handle, translated}
}

// recordedAttachment is a VolumeAttachment of a node.
type recordedAttachment struct {
	id, driver string
	// inUse is true if a pod of the snapshot uses the volume on this node. The volume is detached
	// after that pod has moved to another node.
	inUse bool
}

type nodeAttachments struct {
	podsByVolume    map[string]int32     // uses by pods, by volume
	volumesByDriver map[string]int64     // volumes that pods use, by driver
	recorded        []recordedAttachment // sorted by id
}

// migratedDrivers are the CSI drivers that replaced in-tree volume plugins, by provisioner
// (nodevolumelimits, isCSIMigrationOn). Their volumes count against the driver's limit.
var migratedDrivers = map[string]string{
	"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
	"kubernetes.io/azure-disk": "disk.csi.azure.com", "kubernetes.io/cinder": "cinder.csi.openstack.org",
	portworxPlugin: portworxDriver,
}

const (
	portworxPlugin = "kubernetes.io/portworx-volume"
	portworxDriver = "pxd.portworx.com"
)

// unlimitedProvisioners are the in-tree provisioners whose volumes have no limit per node.
var unlimitedProvisioners = []string{"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}

// attachables returns the volumes that a node must attach for a pod. The function `claim` returns
// the claim of a volume; nil if the volume has no claim.
func (st *Storage) attachables(p *corev1.Pod, claim func(*corev1.Volume) *corev1.PersistentVolumeClaim) []AttachableVolume {
	var out []AttachableVolume
	add := func(a AttachableVolume) {
		same := slices.IndexFunc(out, func(x AttachableVolume) bool { return x.id == a.id })
		switch {
		case a.id == "":
		case same < 0:
			out = append(out, a)
		case !a.translated: // every node counts it, whether or not it counts the in-tree volume
			out[same] = a
		}
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			add(inlineAttachable(v))
			continue
		}
		if c := claim(v); c != nil {
			add(st.claimAttachable(c))
		}
	}
	return out
}

// inlineAttachable returns an in-tree volume of a pod spec. As in the scheduler, a GCE disk gets
// the zone UNSPECIFIED.
func inlineAttachable(v *corev1.Volume) AttachableVolume {
	s := corev1.PersistentVolumeSource{AWSElasticBlockStore: v.AWSElasticBlockStore, GCEPersistentDisk: v.GCEPersistentDisk,
		AzureDisk: v.AzureDisk, PortworxVolume: v.PortworxVolume}
	if c := v.Cinder; c != nil {
		s.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: c.VolumeID}
	}
	return inTreeAttachable(&s, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/")
}

// ebsVolumeID returns the disk's name from an ID such as aws://zone/vol-1.
func ebsVolumeID(id string) string {
	if rest, ok := strings.CutPrefix(id, "aws://"); ok {
		return rest[strings.LastIndex(rest, "/")+1:]
	}
	return id
}

// claimAttachable returns the volume of a claim. For an unbound claim, the result is a volume of
// its StorageClass's provisioner with a unique name. Without an ID, the volume counts against no limit.
func (st *Storage) claimAttachable(c *corev1.PersistentVolumeClaim) AttachableVolume {
	pv := st.snap.PersistentVolume(c.Spec.VolumeName)
	if c.Spec.VolumeName == "" || pv == nil {
		class := st.classes[classOfClaim(c)]
		if class == nil || class.Provisioner == "" || slices.Contains(unlimitedProvisioners, class.Provisioner) {
			return AttachableVolume{}
		}
		driver, old := migratedDrivers[class.Provisioner]
		return newAttachableVolume(cmp.Or(driver, class.Provisioner), "unbound "+c.Namespace+"/"+c.Name, old)
	}
	if s := pv.Spec.CSI; s != nil {
		if s.Driver == "" || s.VolumeHandle == "" {
			return AttachableVolume{}
		}
		return newAttachableVolume(s.Driver, s.VolumeHandle, false)
	}
	return inTreeAttachable(&pv.Spec.PersistentVolumeSource, "disk ")
}

// inTreeAttachable returns an in-tree volume, without an ID for other volumes. gcePrefix precedes the name of a GCE
// disk.
func inTreeAttachable(s *corev1.PersistentVolumeSource, gcePrefix string) AttachableVolume {
	switch {
	case s.AWSElasticBlockStore != nil:
		return newAttachableVolume("ebs.csi.aws.com", ebsVolumeID(s.AWSElasticBlockStore.VolumeID), true)
	case s.GCEPersistentDisk != nil:
		return newAttachableVolume("pd.csi.storage.gke.io", gcePrefix+s.GCEPersistentDisk.PDName, true)
	case s.AzureDisk != nil:
		return newAttachableVolume("disk.csi.azure.com", s.AzureDisk.DataDiskURI, true)
	case s.Cinder != nil:
		return newAttachableVolume("cinder.csi.openstack.org", s.Cinder.VolumeID, true)
	case s.PortworxVolume != nil:
		return newAttachableVolume(portworxDriver, s.PortworxVolume.VolumeID, true)
	}
	return AttachableVolume{}
}

// Attachments counts the volumes that are attached to each node.
type Attachments struct {
	storage    *Storage
	volumesOf  map[cluster.PodID][]AttachableVolume // of the pods that have any
	attached   []nodeAttachments                    // by node
	VictimNode cluster.NodeID                       // node that the victim has just left; its volumes are still attached there
}

// NewAttachments reads the volumes of the pods and the VolumeAttachments of the snapshot.
func NewAttachments(st *Storage) *Attachments {
	a := &Attachments{storage: st, VictimNode: cluster.NoNode, volumesOf: map[cluster.PodID][]AttachableVolume{},
		attached: make([]nodeAttachments, len(st.snap.Nodes))}
	for i := range st.snap.Pods {
		if st.snap.Pods[i].Ordinary {
			continue
		}
		p := st.snap.Pods[i].Object
		if list := st.attachables(p, func(v *corev1.Volume) *corev1.PersistentVolumeClaim { return claimOf(st.snap, p, v) }); len(list) > 0 {
			a.volumesOf[cluster.PodID(i)] = list
		}
	}
	if st.snap.Objects == nil {
		return a
	}
	for _, va := range st.snap.Objects.VolumeAttachments {
		a.addRecorded(va)
	}
	for n := range a.attached {
		list := a.attached[n].recorded
		slices.SortFunc(list, func(a, b recordedAttachment) int { return strings.Compare(a.id, b.id) })
		a.attached[n].recorded = slices.Compact(list)
	}
	return a
}

func (x *Attachments) addRecorded(va *storagev1.VolumeAttachment) {
	n := x.storage.snap.NodeByName(va.Spec.NodeName)
	if n == nil || va.Spec.Attacher == "" || va.Spec.Source.PersistentVolumeName == nil {
		return
	}
	pv := x.storage.snap.PersistentVolume(*va.Spec.Source.PersistentVolumeName)
	if pv == nil || pv.Spec.CSI == nil {
		return
	}
	a := recordedAttachment{id: va.Spec.Attacher + "/" + pv.Spec.CSI.VolumeHandle, driver: va.Spec.Attacher}
	for _, p := range n.Pods {
		for _, v := range x.volumesOf[p] {
			a.inUse = a.inUse || v.id == a.id && x.storage.counts(v, int(n.ID))
		}
	}
	x.attached[n.ID].recorded = append(x.attached[n.ID].recorded, a)
}

// Adjust adds the pod's volumes to a node (by = 1), or removes them (by = -1).
func (x *Attachments) Adjust(p cluster.PodID, n int, by int32) {
	for _, v := range x.volumesOf[p] {
		if !x.storage.counts(v, n) {
			continue
		}
		a := &x.attached[n]
		if a.podsByVolume == nil {
			a.podsByVolume, a.volumesByDriver = map[string]int32{}, map[string]int64{}
		}
		before := a.podsByVolume[v.id]
		a.podsByVolume[v.id] += by
		switch {
		case before == 0:
			a.volumesByDriver[v.driver]++
		case a.podsByVolume[v.id] == 0:
			a.volumesByDriver[v.driver]--
			delete(a.podsByVolume, v.id)
		}
	}
}

// countDetaching counts the driver's volumes that have a VolumeAttachment, although no pod on the
// node uses the volume.
func (x *Attachments) countDetaching(n int, driver string) (count int64) {
	a := &x.attached[n]
	for _, r := range a.recorded {
		if r.driver == driver && a.podsByVolume[r.id] == 0 && (!r.inUse || x.VictimNode == cluster.NodeID(n)) {
			count++
		}
	}
	return count
}

// counts reports whether the node counts the volume. A node counts in-tree volumes only if it has a
// CSINode, and see Features.PortworxAnnotated.
func (st *Storage) counts(v AttachableVolume, n int) bool {
	return !v.translated || st.csiNode[n] != nil && !(v.driver == portworxDriver && st.noPortworx[n])
}

// BlockingDriver returns a driver that refuses the pod on the node, because the driver is not
// installed or has reached its limit; empty if no driver refuses the pod.
func (a *Attachments) BlockingDriver(attach []AttachableVolume, n int) string {
	if len(attach) == 0 {
		return ""
	}
	if a.storage.ChecksDrivers() {
		for _, v := range attach {
			if a.storage.counts(v, n) && !a.storage.DriverInstalled(v.driver, n) {
				return v.driver
			}
		}
	}
	limits := a.storage.limits[n]
	for i, v := range attach {
		limit, limited := limits[v.driver]
		if !limited || slices.ContainsFunc(attach[:i], func(x AttachableVolume) bool { return x.driver == v.driver }) {
			continue
		}
		fresh := int64(0)
		for _, x := range attach[i:] {
			if x.driver == v.driver && a.storage.counts(x, n) && a.attached[n].podsByVolume[x.id] == 0 {
				fresh++
			}
		}
		if fresh > 0 && a.attached[n].volumesByDriver[v.driver]+a.countDetaching(n, v.driver)+fresh > limit {
			return v.driver
		}
	}
	return ""
}

// Clone copies the counts and shares the storage.
func (a *Attachments) Clone() *Attachments {
	c := *a
	c.attached = slices.Clone(a.attached)
	for i := range c.attached {
		x := &c.attached[i]
		x.podsByVolume, x.volumesByDriver, x.recorded = maps.Clone(x.podsByVolume), maps.Clone(x.volumesByDriver), slices.Clone(x.recorded)
	}
	return &c
}

// ChecksDrivers reports whether NodeVolumeLimits rejects nodes that lack a required driver.
func (st *Storage) ChecksDrivers() bool { return st.snap.Scheduler.MissingDriversReject }

// DriverInstalled reports whether the driver runs on the node; always true if the driver does not
// set preventPodSchedulingIfMissing.
func (st *Storage) DriverInstalled(driver string, n int) bool {
	d := st.drivers[driver]
	if d == nil || !ptr.Deref(d.Spec.PreventPodSchedulingIfMissing, false) {
		return true
	}
	c := st.csiNode[n]
	return c != nil && slices.ContainsFunc(c.Spec.Drivers, func(x storagev1.CSINodeDriver) bool { return x.Name == driver })
}
