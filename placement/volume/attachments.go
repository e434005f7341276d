package volume

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Attachable is a volume that takes one of a driver's places on a node. Volumes
// of one driver and handle are one volume, however many pods use it.
type Attachable struct {
	driver string
	id     string // driver and handle
	// translated volumes are written in an old form; a node has them attached
	// through the driver when it has a CSINode.
	translated bool
}

func attachableOf(driver, handle string, translated bool) Attachable {
	return Attachable{driver, driver + "/" + handle, translated}
}

// recordedAttachment is a VolumeAttachment of a node.
type recordedAttachment struct {
	id, driver string
	// inUse: a pod that stands there in the snapshot has the volume, so that it
	// goes when that pod has moved away.
	inUse bool
}

// nodeAttachments are the volumes on one node.
type nodeAttachments struct {
	podsByVolume    map[string]int32     // uses by pods, by volume
	volumesByDriver map[string]int64     // volumes that pods use, by driver
	recorded        []recordedAttachment // sorted by id
}

// migratedDrivers are the drivers that took over in-tree kinds of volumes and count
// their volumes (nodevolumelimits, isCSIMigrationOn), by provisioner.
var migratedDrivers = map[string]string{
	"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
	"kubernetes.io/azure-disk": "disk.csi.azure.com", "kubernetes.io/cinder": "cinder.csi.openstack.org",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
}

// unlimitedProvisioners are in-tree provisioners whose volumes no limit counts.
var unlimitedProvisioners = []string{"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}

// attachables lists the volumes that a pod takes a place for. An ephemeral
// volume has the claim that `claim` names.
func (st *Storage) attachables(p *corev1.Pod, claim func(*corev1.Volume) *corev1.PersistentVolumeClaim) []Attachable {
	var out []Attachable
	add := func(a Attachable, ok bool) {
		if ok && !slices.Contains(out, a) {
			out = append(out, a)
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

// inlineAttachable is a volume of an in-tree kind that is named in a pod spec. Its
// disk of GCE stands for no zone.
func inlineAttachable(v *corev1.Volume) (Attachable, bool) {
	s := corev1.PersistentVolumeSource{AWSElasticBlockStore: v.AWSElasticBlockStore, GCEPersistentDisk: v.GCEPersistentDisk,
		AzureDisk: v.AzureDisk, PortworxVolume: v.PortworxVolume}
	if c := v.Cinder; c != nil {
		s.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: c.VolumeID}
	}
	return inTreeAttachable(&s, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/")
}

// ebsVolumeID cuts the disk's own name out of the form aws://zone/vol-....
func ebsVolumeID(id string) string {
	if rest, ok := strings.CutPrefix(id, "aws://"); ok {
		return rest[strings.LastIndex(rest, "/")+1:]
	}
	return id
}

// claimAttachable is the volume of a claim. One that is not bound yet counts
// for the provisioner of its class, under a name of its own.
func (st *Storage) claimAttachable(c *corev1.PersistentVolumeClaim) (Attachable, bool) {
	pv := st.volumes[c.Spec.VolumeName]
	if c.Spec.VolumeName == "" || pv == nil {
		class := st.classes[classOfClaim(c)]
		if class == nil || class.Provisioner == "" || slices.Contains(unlimitedProvisioners, class.Provisioner) {
			return Attachable{}, false
		}
		driver, old := migratedDrivers[class.Provisioner]
		if !old {
			driver = class.Provisioner
		}
		return attachableOf(driver, "unbound "+c.Namespace+"/"+c.Name, old), true
	}
	if s := pv.Spec.CSI; s != nil {
		return attachableOf(s.Driver, s.VolumeHandle, false), s.Driver != "" && s.VolumeHandle != ""
	}
	return inTreeAttachable(&pv.Spec.PersistentVolumeSource, "disk ")
}

// inTreeAttachable is a volume of an in-tree kind; gcePrefix comes before the name
// of a disk of GCE.
func inTreeAttachable(s *corev1.PersistentVolumeSource, gcePrefix string) (Attachable, bool) {
	switch {
	case s.AWSElasticBlockStore != nil:
		return attachableOf("ebs.csi.aws.com", ebsVolumeID(s.AWSElasticBlockStore.VolumeID), true), true
	case s.GCEPersistentDisk != nil:
		return attachableOf("pd.csi.storage.gke.io", gcePrefix+s.GCEPersistentDisk.PDName, true), true
	case s.AzureDisk != nil:
		return attachableOf("disk.csi.azure.com", s.AzureDisk.DataDiskURI, true), true
	case s.Cinder != nil:
		return attachableOf("cinder.csi.openstack.org", s.Cinder.VolumeID, true), true
	case s.PortworxVolume != nil:
		return attachableOf("pxd.portworx.com", s.PortworxVolume.VolumeID, true), true
	}
	return Attachable{}, false
}

// Attachments counts the volumes that pods attach to each node.
type Attachments struct {
	storage    *Storage
	volumesOf  map[cluster.PodID][]Attachable // of the pods that have any
	attached   []nodeAttachments              // by node
	VictimNode cluster.NodeID                 // where a victim has just gone; its volumes are still attached
}

// NewAttachments finds the volumes of the pods and those that are recorded as
// attached.
func NewAttachments(st *Storage) *Attachments {
	a := &Attachments{storage: st, VictimNode: cluster.NoNode}
	a.volumesOf = map[cluster.PodID][]Attachable{}
	a.attached = make([]nodeAttachments, len(a.storage.snap.Nodes))
	for i := range a.storage.snap.Pods {
		p := a.storage.snap.Pods[i].Object
		if len(p.Spec.Volumes) == 0 {
			continue
		}
		list := a.storage.attachables(p, func(v *corev1.Volume) *corev1.PersistentVolumeClaim { return a.storage.claimOf(p, v) })
		if len(list) > 0 {
			a.volumesOf[cluster.PodID(i)] = list
		}
	}
	if a.storage.snap.Objects == nil {
		return a
	}
	for _, va := range a.storage.snap.Objects.VolumeAttachments {
		a.addRecorded(va)
	}
	for n := range a.attached {
		slices.SortFunc(a.attached[n].recorded, func(a, b recordedAttachment) int { return strings.Compare(a.id, b.id) })
		a.attached[n].recorded = slices.Compact(a.attached[n].recorded)
	}
	return a
}

func (x *Attachments) addRecorded(va *storagev1.VolumeAttachment) {
	n := x.storage.snap.NodeByName(va.Spec.NodeName)
	if n == nil || va.Spec.Attacher == "" || va.Spec.Source.PersistentVolumeName == nil {
		return
	}
	pv := x.storage.volumes[*va.Spec.Source.PersistentVolumeName]
	if pv == nil || pv.Spec.CSI == nil {
		return
	}
	a := recordedAttachment{id: va.Spec.Attacher + "/" + pv.Spec.CSI.VolumeHandle, driver: va.Spec.Attacher}
	for _, p := range n.Pods {
		for _, v := range x.volumesOf[p] {
			a.inUse = a.inUse || v.id == a.id
		}
	}
	x.attached[n.ID].recorded = append(x.attached[n.ID].recorded, a)
}

// Adjust counts the pod's volumes on a node.
func (x *Attachments) Adjust(p cluster.PodID, n int, by int32) {
	for _, v := range x.volumesOf[p] {
		if v.translated && x.storage.csiNode[n] == nil {
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

// countDetaching counts the driver's volumes that are recorded as attached, though
// no pod there uses them.
func (x *Attachments) countDetaching(n int, driver string) (count int64) {
	a := &x.attached[n]
	for _, r := range a.recorded {
		if r.driver == driver && a.podsByVolume[r.id] == 0 && (!r.inUse || x.VictimNode == cluster.NodeID(n)) {
			count++
		}
	}
	return count
}

// BlockingDriver names a driver that keeps the newcomer off the node: it is not
// installed there, or can attach no more; "" when there is none.
func (a *Attachments) BlockingDriver(attach []Attachable, n int) string {
	if len(attach) == 0 {
		return ""
	}
	if a.storage.ChecksDrivers() {
		for _, v := range attach {
			if !(v.translated && a.storage.csiNode[n] == nil) && !a.storage.DriverInstalled(v.driver, n) {
				return v.driver
			}
		}
	}
	limits := a.storage.limits[n]
	for i, v := range attach {
		limit, limited := limits[v.driver]
		if !limited || slices.ContainsFunc(attach[:i], func(x Attachable) bool { return x.driver == v.driver }) {
			continue
		}
		fresh := int64(0)
		for _, x := range attach[i:] {
			if x.driver == v.driver && a.attached[n].podsByVolume[x.id] == 0 {
				fresh++
			}
		}
		if fresh > 0 && a.attached[n].volumesByDriver[v.driver]+a.countDetaching(n, v.driver)+fresh > limit {
			return v.driver
		}
	}
	return ""
}

// Clone copies the counts; the storage is shared.
func (a *Attachments) Clone() *Attachments {
	c := *a
	c.attached = slices.Clone(a.attached)
	for i := range c.attached {
		x := &c.attached[i]
		x.podsByVolume, x.volumesByDriver, x.recorded = maps.Clone(x.podsByVolume), maps.Clone(x.volumesByDriver), slices.Clone(x.recorded)
	}
	return &c
}

// ChecksDrivers is the gate VolumeLimitScaling, on by default since 1.37.
func (st *Storage) ChecksDrivers() bool { return st.snap.ServerMinor >= 37 }

// DriverInstalled reports whether the driver runs on the node, where the driver asks
// the scheduler to look.
func (st *Storage) DriverInstalled(driver string, n int) bool {
	d := st.drivers[driver]
	if d == nil || d.Spec.PreventPodSchedulingIfMissing == nil || !*d.Spec.PreventPodSchedulingIfMissing {
		return true
	}
	c := st.csiNode[n]
	return c != nil && slices.ContainsFunc(c.Spec.Drivers, func(x storagev1.CSINodeDriver) bool { return x.Name == driver })
}
