package placement

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const driver = "disk.example.com"

func storageRequest(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// claimVolumes returns volumes that use the claims.
func claimVolumes(names ...string) (out []corev1.Volume) {
	for _, n := range names {
		out = append(out, corev1.Volume{Name: n, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: n}}})
	}
	return out
}

// csiNode adds a CSINode whose driver can attach count volumes.
func (b *snapshotBuilder) csiNode(node string, count int32) {
	b.objects.CSINodes = append(b.objects.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}})
}

func (b *snapshotBuilder) storageClass(name, provisioner string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	b.objects.StorageClasses = append(b.objects.StorageClasses, c)
	return c
}

func (b *snapshotBuilder) claim(name, class, size string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: storageRequest(size)}}}
	b.objects.PersistentVolumeClaims = append(b.objects.PersistentVolumeClaims, c)
	return c
}

func zoneAffinity(zones ...string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: zones}}}}}}
}

func (b *snapshotBuilder) volume(name, class, size string, at *corev1.VolumeNodeAffinity) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: class, Capacity: storageRequest(size), NodeAffinity: at, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}}
	pv.Status.Phase = corev1.VolumeAvailable
	b.objects.PersistentVolumes = append(b.objects.PersistentVolumes, pv)
	return pv
}

// boundClaim adds a claim that is bound to a volume of the driver.
func (b *snapshotBuilder) boundClaim(name string, at *corev1.VolumeNodeAffinity) *corev1.PersistentVolumeClaim {
	c, pv := b.claim(name, "zonal", "1Gi"), b.volume("pv-"+name, "zonal", "1Gi", at)
	c.Spec.VolumeName, c.Annotations["pv.kubernetes.io/bind-completed"] = pv.Name, "yes"
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
	pv.Status.Phase = corev1.VolumeBound
	return c
}

// withBoundClaim gives x-0 a bound claim.
func withBoundClaim(at *corev1.VolumeNodeAffinity, more func(*snapshotBuilder)) func(*snapshotBuilder) {
	return func(b *snapshotBuilder) {
		b.boundClaim("c", at)
		b.pod("x-0").Spec.Volumes = claimVolumes("c")
		b.csiNode("a", 9)
		if more != nil {
			more(b)
		}
	}
}

func TestBoundVolumes(t *testing.T) {
	labelled := func(key, value string) func(*snapshotBuilder) {
		return withBoundClaim(nil, func(b *snapshotBuilder) { b.objects.PersistentVolumes[0].Labels = map[string]string{key: value} })
	}
	annotate := func(b *snapshotBuilder) {
		delete(b.objects.PersistentVolumeClaims[0].Annotations, "pv.kubernetes.io/bind-completed")
	}
	useNFS := func(b *snapshotBuilder) {
		b.objects.PersistentVolumes[0].Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}}
		b.objects.CSINodes = nil
	}
	runFeasibleCases(t, []feasibleCase{
		{"anywhere", withBoundClaim(nil, nil), "a b c", "a b c", ""},
		{"in a zone", withBoundClaim(zoneAffinity("zb"), nil), "b c", "b c", ""},
		{"in another zone", withBoundClaim(zoneAffinity("za"), nil), "a", "a", scheduler.VolumeBinding},
		{"by a zone label", labelled(zoneKey, "za"), "a", "a", scheduler.VolumeZone},
		{"by the old zone label", labelled(corev1.LabelFailureDomainBetaZone, "za"), "a", "a", scheduler.VolumeZone},
		{"by two zones", labelled(zoneKey, "za__zb"), "a b c", "a b c", ""},
		{"by a label with an empty zone", labelled(zoneKey, "za__"), "a b c", "a b c", ""},
		{"by a region that no node has", labelled(corev1.LabelTopologyRegion, "r"), "", "", scheduler.VolumeZone},
		{"of NFS, which no node attaches, in another zone", withBoundClaim(zoneAffinity("za"), useNFS), "a", "a", scheduler.VolumeBinding},
		{"of NFS, not yet done", withBoundClaim(nil, func(b *snapshotBuilder) { useNFS(b); annotate(b) }), "", "", scheduler.VolumeBinding},
		{"not yet done", withBoundClaim(nil, annotate), "", "", scheduler.VolumeBinding},
		{"lost", withBoundClaim(nil, func(b *snapshotBuilder) { b.objects.PersistentVolumeClaims[0].Status.Phase = corev1.ClaimLost }), "", "", scheduler.VolumeBinding},
	})
}

// withUnboundClaim gives x-0 an unbound claim of 5Gi whose StorageClass waits for the pod. Without
// a provisioner, the class provisions no volumes.
func withUnboundClaim(provisioner string, more func(*snapshotBuilder)) func(*snapshotBuilder) {
	return func(b *snapshotBuilder) {
		b.storageClass("late", provisioner, storagev1.VolumeBindingWaitForFirstConsumer)
		b.claim("c", "late", "5Gi")
		b.pod("x-0").Spec.Volumes = claimVolumes("c")
		b.csiNode("a", 9)
		if more != nil {
			more(b)
		}
	}
}

func (b *snapshotBuilder) storageCapacity(zone, size string) {
	yes, q := true, resource.MustParse(size)
	if len(b.objects.CSIDrivers) == 0 {
		b.objects.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}}
	}
	b.objects.CSIStorageCapacities = append(b.objects.CSIStorageCapacities, &storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{Name: "free-" + zone}, StorageClassName: "late", Capacity: &q,
		NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{zoneKey: zone}}})
}

func TestWaitingClaims(t *testing.T) {
	const none = "kubernetes.io/no-provisioner"
	local := func(size string, edit func(*corev1.PersistentVolume)) func(*snapshotBuilder) {
		return withUnboundClaim(none, func(b *snapshotBuilder) {
			if pv := b.volume("pv", "late", size, zoneAffinity("zb")); edit != nil {
				edit(pv)
			}
		})
	}
	runFeasibleCases(t, []feasibleCase{
		{"provisioned anywhere", withUnboundClaim(driver, nil), "a b c", "a b c", ""},
		{"provisioned in a zone", withUnboundClaim(driver, func(b *snapshotBuilder) {
			b.objects.StorageClasses[0].AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{"za"}}}}}
		}), "a", "a", scheduler.VolumeBinding},
		{"the node was chosen", withUnboundClaim(driver, func(b *snapshotBuilder) {
			b.objects.PersistentVolumeClaims[0].Annotations["volume.kubernetes.io/selected-node"] = "c"
		}), "c", "c", scheduler.VolumeBinding},
		{"enough storage in a zone", withUnboundClaim(driver, func(b *snapshotBuilder) { b.storageCapacity("za", "9Gi"); b.storageCapacity("zb", "4Gi") }), "a", "a", scheduler.VolumeBinding},
		{"no storage on record", withUnboundClaim(driver, func(b *snapshotBuilder) { b.storageCapacity("zc", "9Gi") }), "", "", scheduler.VolumeBinding},
		{"no volume to be had", withUnboundClaim(none, nil), "", "", scheduler.VolumeBinding},
		{"a local volume", local("5Gi", nil), "b c", "b c", ""},
		{"a volume too small", local("4Gi", nil), "", "", scheduler.VolumeBinding},
		{"a volume for another claim", local("5Gi", func(pv *corev1.PersistentVolume) {
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "other"}
		}), "", "", scheduler.VolumeBinding},
		{"a volume for this claim", local("5Gi", func(pv *corev1.PersistentVolume) {
			pv.Spec.ClaimRef, pv.Status.Phase = &corev1.ObjectReference{Namespace: "default", Name: "c"}, corev1.VolumePending
		}), "b c", "b c", ""},
		{"a volume of another mode", local("5Gi", func(pv *corev1.PersistentVolume) {
			block := corev1.PersistentVolumeBlock
			pv.Spec.VolumeMode = &block
		}), "", "", scheduler.VolumeBinding},
		{"a volume in use", local("5Gi", func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeReleased }), "", "", scheduler.VolumeBinding},
		{"a volume that is read only", local("5Gi", func(pv *corev1.PersistentVolume) {
			pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		}), "", "", scheduler.VolumeBinding},
		{"two claims and one volume", func(b *snapshotBuilder) {
			local("5Gi", nil)(b)
			b.claim("d", "late", "1Gi")
			b.pod("x-0").Spec.Volumes = claimVolumes("c", "d")
		}, "", "", scheduler.VolumeBinding},
	})
}

// TestVolumeBindingScore: VolumeBinding prefers the node where the claim uses the smallest share. 5
// of 20Gi leave 75 %, 5 of 10Gi leave 50 %.
func TestVolumeBindingScore(t *testing.T) {
	for _, c := range []struct {
		name    string
		version string
		edit    func(*snapshotBuilder)
		a, b    int64
	}{
		{"free storage", "1.37", withUnboundClaim(driver, func(b *snapshotBuilder) { b.storageCapacity("za", "20Gi"); b.storageCapacity("zb", "10Gi") }), 75, 50},
		{"volumes", "1.37", withUnboundClaim(driver, func(b *snapshotBuilder) {
			b.volume("va", "late", "5Gi", zoneAffinity("za"))
			b.volume("vb", "late", "50Gi", zoneAffinity("zb"))
			b.volume("vc", "late", "8Gi", zoneAffinity("zb"))
		}), 0, 38},
		{"switched off", "1.36", withUnboundClaim(driver, func(b *snapshotBuilder) { b.storageCapacity("za", "20Gi"); b.storageCapacity("zb", "10Gi") }), 0, 0},
		{"bound volumes", "1.37", withBoundClaim(nil, nil), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.objects.ServerVersion = c.version
			b.node("a", "za")
			b.node("b", "zb")
			b.app("x", 100, nil, "a")
			c.edit(b)
			m := b.model(t)
			gotA, gotB := scoreOf(t, explainNode(t, m, "x-0", "a", true), "VolumeBinding"), scoreOf(t, explainNode(t, m, "x-0", "b", true), "VolumeBinding")
			if gotA != c.a || gotB != c.b {
				t.Errorf("a %d, b %d; want %d and %d", gotA, gotB, c.a, c.b)
			}
		})
	}
}

func TestVolumesUnknown(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*snapshotBuilder)
		want string // part of the reason; empty if supported
	}{
		{"all is there", withBoundClaim(nil, nil), ""},
		{"no volume", withBoundClaim(nil, func(b *snapshotBuilder) { b.objects.PersistentVolumes = nil }), "volume pv-c of its claim c is not in the snapshot"},
		{"no class", withUnboundClaim(driver, func(b *snapshotBuilder) { b.objects.StorageClasses = nil }), "StorageClass late of its claim c is not in the snapshot"},
		{"no CSINode", withBoundClaim(nil, func(b *snapshotBuilder) { b.objects.CSINodes = nil }), "no CSINode is in the snapshot"},
		{"in-tree volume", withBoundClaim(nil, func(b *snapshotBuilder) {
			b.objects.PersistentVolumes[0].Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "v"}}
		}), "in-tree volume"},
		{"NFS", withBoundClaim(nil, func(b *snapshotBuilder) {
			b.objects.PersistentVolumes[0].Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}}
			b.objects.CSINodes = nil
		}), ""},
	} {
		b := newSnapshotBuilder()
		b.node("a", "za")
		b.app("x", 100, nil, "a")
		c.edit(b)
		m := b.model(t)
		why, ok := m.Supported(podID(t, m, "x-0"))
		if ok != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: supported %v: %q, want %q", c.name, ok, why, c.want)
		}
	}
}
