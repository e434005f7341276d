package oracle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// csiDrivers are the drivers that nodes may have. The last one replaces the in-tree plugin for Portworx volumes.
var csiDrivers = []string{"csi.fast", "csi.wide", "ebs.csi.aws.com", "pxd.portworx.com"}

func gibibytes(n int) resource.Quantity {
	return *resource.NewQuantity(int64(n)<<30, resource.BinarySI)
}

// addStorage adds classes, drivers, storage capacities, and volumes without a claim. Volumes without a claim differ in
// size, and no node reaches two capacities of one class, so that the scheduler's choice is not arbitrary.
func (g *generatedCluster) addStorage() {
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	class := func(name, provisioner string, mode *storagev1.VolumeBindingMode) *storagev1.StorageClass {
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: mode}
		g.objects.StorageClasses = append(g.objects.StorageClasses, c)
		return c
	}
	fast := class("fast", "csi.fast", &wait)
	fast.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	wide := class("wide", "csi.wide", &wait)
	class("local", "kubernetes.io/no-provisioner", &wait)
	class("old", "kubernetes.io/aws-ebs", &wait)
	class("portworx", "kubernetes.io/portworx-volume", &wait)
	class("now", "csi.wide", &now)
	for _, c := range []*storagev1.StorageClass{fast, wide} {
		if g.themes["topologies"] && g.chance(0.8) {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
				{Key: topologyKeys[1], Values: []string{g.oneOf("a", "b", "c"), g.oneOf("a", "b", "c")}}}}}
		}
	}
	for _, name := range csiDrivers {
		tracked, missing := name == "csi.fast" && g.themes["capacity"], g.themes["drivers"] && g.chance(0.8)
		g.objects.CSIDrivers = append(g.objects.CSIDrivers, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: storagev1.CSIDriverSpec{StorageCapacity: &tracked, PreventPodSchedulingIfMissing: &missing}})
	}
	for i, n := range g.objects.Nodes {
		if i == 0 || g.chance(0.85) {
			g.addCSINode(n.Name)
		}
	}
	for _, zone := range []string{"a", "b", "c"} {
		if g.chance(0.85) {
			g.addStorageCapacity(zone)
		}
	}
	for i := range g.Intn(8) {
		g.addUnclaimedVolume(i)
	}
}

func (g *generatedCluster) addCSINode(node string) {
	c := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	if g.themes["portworx"] && g.chance(0.6) {
		migrated := "kubernetes.io/aws-ebs,kubernetes.io/portworx-volume"
		c.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: migrated}
	}
	for _, name := range csiDrivers {
		if g.chance(0.2) {
			continue
		}
		d := storagev1.CSINodeDriver{Name: name, NodeID: node}
		if g.themes["limits"] && g.chance(0.8) {
			count := int32(g.Intn(4))
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		c.Spec.Drivers = append(c.Spec.Drivers, d)
	}
	g.objects.CSINodes = append(g.objects.CSINodes, c)
}

func (g *generatedCluster) addStorageCapacity(zone string) {
	free, most := gibibytes(1+g.Intn(60)), gibibytes(1+g.Intn(40))
	c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "ns0", Name: "free-" + zone},
		StorageClassName: "fast", NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{topologyKeys[1]: zone}},
		Capacity: &free}
	if g.chance(0.4) {
		c.MaximumVolumeSize = &most
	}
	g.objects.CSIStorageCapacities = append(g.objects.CSIStorageCapacities, c)
}

// randomVolumeAffinity returns a node affinity to zones or nodes.
func (g *generatedCluster) randomVolumeAffinity() *corev1.VolumeNodeAffinity {
	key, values := topologyKeys[1], []string{g.oneOf("a", "b", "c"), g.oneOf("a", "b", "c")}
	if g.chance(0.4) {
		key, values = topologyKeys[0], []string{g.objects.Nodes[g.Intn(len(g.objects.Nodes))].Name,
			g.objects.Nodes[g.Intn(len(g.objects.Nodes))].Name}
	}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}}}}
}

func (g *generatedCluster) addUnclaimedVolume(i int) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("free-%d", i),
		Labels: map[string]string{"tier": g.oneOf("gold", "tin")}}}
	pv.Spec = corev1.PersistentVolumeSpec{StorageClassName: g.oneOf("local", "local", "fast"), NodeAffinity: g.randomVolumeAffinity(),
		Capacity:    corev1.ResourceList{corev1.ResourceStorage: gibibytes(3 + 7*i + g.Intn(6))},
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
	pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt"}
	pv.Spec.VolumeAttributesClassName = g.attributesClass()
	pv.Status.Phase = corev1.VolumeAvailable
	if g.chance(0.1) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns0", Name: "nobody"}
	}
	g.objects.PersistentVolumes = append(g.objects.PersistentVolumes, pv)
}

// addClaim adds a claim with the features that the cluster uses.
func (g *generatedCluster) addClaim(ns, name string) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: gibibytes(1 + g.Intn(30))}}}}
	if g.themes["once"] && g.chance(0.4) {
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	class := g.oneOf("fast", "fast", "wide", "local", "local", "old")
	if g.themes["portworx"] && g.chance(0.4) {
		class = "portworx"
	}
	if schedulerMinor >= 34 { // up to 1.33, no node accepts a claim with such a class
		c.Spec.VolumeAttributesClassName = g.attributesClass()
	}
	switch {
	case g.chance(0.02):
		class = "now" // never bound, so no node accepts the pod
	case g.chance(0.01):
		c.Status.Phase = corev1.ClaimLost
	case g.chance(0.01):
		now := metav1.Unix(1, 0)
		c.DeletionTimestamp, c.Finalizers = &now, []string{"kubernetes.io/pvc-protection"}
	case !g.themes["waits"] || g.chance(0.35):
		g.bindToNewVolume(c, class)
	case g.chance(0.1):
		c.Annotations["volume.kubernetes.io/selected-node"] = g.objects.Nodes[g.Intn(len(g.objects.Nodes))].Name
	case g.chance(0.2):
		g.addReservedVolume(c, class)
	case g.chance(0.3):
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": g.oneOf("gold", "tin")}}
	}
	c.Spec.StorageClassName = &class
	g.objects.PersistentVolumeClaims = append(g.objects.PersistentVolumeClaims, c)
}

// addReservedVolume adds a volume that is reserved for this claim.
func (g *generatedCluster) addReservedVolume(c *corev1.PersistentVolumeClaim, class string) {
	meta := metav1.ObjectMeta{Name: "for-" + c.Namespace + "-" + c.Name}
	g.objects.PersistentVolumes = append(g.objects.PersistentVolumes, &corev1.PersistentVolume{ObjectMeta: meta,
		Spec: corev1.PersistentVolumeSpec{StorageClassName: class, NodeAffinity: g.randomVolumeAffinity(), AccessModes: c.Spec.AccessModes,
			Capacity:                  corev1.ResourceList{corev1.ResourceStorage: gibibytes(g.Intn(60))},
			VolumeAttributesClassName: g.attributesClass(),
			ClaimRef:                  &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name}}})
}

// attributesClass returns the name of a VolumeAttributesClass, or nil.
func (g *generatedCluster) attributesClass() *string {
	if !g.themes["attributes"] || g.chance(0.5) {
		return nil
	}
	name := g.oneOf("gold", "tin")
	return &name
}

// bindToNewVolume creates a volume and binds the claim to it.
func (g *generatedCluster) bindToNewVolume(c *corev1.PersistentVolumeClaim, class string) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + c.Namespace + "-" + c.Name, Labels: map[string]string{}},
		Spec: corev1.PersistentVolumeSpec{StorageClassName: class, Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes,
			ClaimRef: &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name}}}
	driver := g.oneOf("csi.fast", "csi.wide", "ebs.csi.aws.com", "nfs")
	if g.themes["portworx"] && g.chance(0.4) {
		driver = g.oneOf("portworx", "pxd.portworx.com")
	}
	switch driver {
	case "portworx":
		pv.Spec.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: g.oneOf("h0", "h1", c.Name, c.Name, c.Name)}
	case "nfs":
		pv.Spec.NFS = &corev1.NFSVolumeSource{Server: "s", Path: "/"}
	default:
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: g.oneOf("h0", "h1", c.Name, c.Name, c.Name)}
	}
	if g.themes["reach"] && g.chance(0.6) {
		pv.Spec.NodeAffinity = g.randomVolumeAffinity()
	}
	if g.themes["zones"] && g.chance(0.5) {
		pv.Labels[g.oneOf(topologyKeys[1], topologyKeys[1], corev1.LabelFailureDomainBetaZone)] = g.oneOf("a", "b", "a__b", "c__b", "a__")
	}
	pv.Status.Phase = corev1.VolumeBound
	c.Spec.VolumeName = pv.Name
	if !g.chance(0.02) {
		c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	}
	g.objects.PersistentVolumes = append(g.objects.PersistentVolumes, pv)
	if g.themes["attached"] && g.chance(0.5) {
		g.objects.VolumeAttachments = append(g.objects.VolumeAttachments, &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "va-" + pv.Name},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: g.oneOf("csi.fast", "csi.wide", "ebs.csi.aws.com"),
				NodeName: g.objects.Nodes[g.Intn(len(g.objects.Nodes))].Name,
				Source:   storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}}})
	}
}

// inlineVolume returns an inline volume, which the pod spec defines.
func (g *generatedCluster) inlineVolume() corev1.Volume {
	v := corev1.Volume{Name: "disk"}
	switch g.Intn(6) {
	case 0:
		v.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: g.oneOf("d0", "d1"), ReadOnly: g.chance(0.5)}
	case 1:
		v.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: g.oneOf("vol-00000001",
			"aws://a/vol-00000001", "vol-00000002")}
	case 2:
		v.ISCSI = &corev1.ISCSIVolumeSource{IQN: g.oneOf("i0", "i1"), ReadOnly: g.chance(0.5)}
	case 3:
		v.RBD = &corev1.RBDVolumeSource{CephMonitors: []string{g.oneOf("m0", "m1"), g.oneOf("m2", "m3")},
			RBDImage: "i", RBDPool: g.oneOf("p", "q"), ReadOnly: g.chance(0.5)}
	case 4:
		v.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: "z", DataDiskURI: "u"}
	default:
		v.HostPath = &corev1.HostPathVolumeSource{Path: "/"}
	}
	return v
}
