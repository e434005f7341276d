package placement

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withAttachLimits gives x-0 a volume, and sets how many volumes nodes a, b and c can attach.
func withAttachLimits(a, b, c int32, more func(*snapshotBuilder)) func(*snapshotBuilder) {
	return func(x *snapshotBuilder) {
		x.boundClaim("c", nil)
		x.pod("x-0").Spec.Volumes = claimVolumes("c")
		x.csiNode("a", a)
		x.csiNode("b", b)
		x.csiNode("c", c)
		if more != nil {
			more(x)
		}
	}
}

// alsoUses adds another pod that uses the claim on a node.
func (b *snapshotBuilder) alsoUses(claim, node string) {
	b.app("y-"+claim, 0, func(s *corev1.PodSpec) { s.Volumes = claimVolumes(claim) }, node)
}

func (b *snapshotBuilder) volumeAttachment(volume, node string) {
	b.objects.VolumeAttachments = append(b.objects.VolumeAttachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume + node},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}})
}

func TestNodeVolumeLimits(t *testing.T) {
	other := func(node string) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) { b.boundClaim("d", nil); b.alsoUses("d", node) }
	}
	prevent := func(yes bool) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.objects.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}}}
			b.objects.CSINodes[1].Spec.Drivers = nil
		}
	}
	runFeasibleCases(t, []feasibleCase{
		{"room", withAttachLimits(1, 1, 1, nil), "a b c", "a b c", ""},
		{"none on b", withAttachLimits(1, 0, 1, nil), "a c", "a c", scheduler.NodeVolumeLimits},
		{"taken by another volume", withAttachLimits(1, 1, 1, other("b")), "a c", "a c", scheduler.NodeVolumeLimits},
		{"room for both", withAttachLimits(1, 2, 1, other("b")), "a b c", "a b c", ""},
		{"the same volume is there", withAttachLimits(1, 1, 1, func(b *snapshotBuilder) { b.alsoUses("c", "b") }), "a b c", "a b c", ""},
		{"still attached there", withAttachLimits(1, 1, 1, func(b *snapshotBuilder) { b.boundClaim("d", nil); b.volumeAttachment("pv-d", "b") }), "a c", "a c", scheduler.NodeVolumeLimits},
		// A VolumeAttachment still counts on the node of a deleted pod, in addition to the new
		// attachment.
		{"the victim's own", withAttachLimits(1, 1, 1, func(b *snapshotBuilder) { b.volumeAttachment("pv-c", "a") }), "a b c", "b c", ""},
		{"driver missing", withAttachLimits(1, 1, 1, prevent(true)), "a c", "a c", scheduler.NodeVolumeLimits},
		{"driver missing, and nobody minds", withAttachLimits(1, 1, 1, prevent(false)), "a b c", "a b c", ""},
		{"driver missing in 1.36", withAttachLimits(1, 1, 1, func(b *snapshotBuilder) { prevent(true)(b); b.objects.ServerVersion = "1.36" }), "a b c", "a b c", ""},
		{"a claim that waits", func(b *snapshotBuilder) {
			withUnboundClaim(driver, nil)(b)
			b.csiNode("b", 0)
		}, "a c", "a c", scheduler.NodeVolumeLimits},
	})
}

// TestAttachmentGoesWithItsPod: once a pod has moved away, its volume is detached. A recorded
// volume that no pod of the snapshot uses stays attached.
func TestAttachmentGoesWithItsPod(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("x", 100, nil, "a")
	withBoundClaim(nil, nil)(b)
	b.objects.CSINodes = nil
	b.csiNode("a", 1)
	b.csiNode("b", 1)
	b.volumeAttachment("pv-c", "a")
	b.boundClaim("d", nil)
	b.app("y", 0, func(s *corev1.PodSpec) { s.Volumes = claimVolumes("d") }, "")
	m := b.model(t)
	feasible := func() string { return nodeNames(m, m.Predict(podID(t, m, "y-0")).Gone.Feasible) }
	if got := feasible(); got != "b" {
		t.Errorf("before: %q, want b", got)
	}
	m.Cluster.Move(podID(t, m, "x-0"), nodeID(t, m, "b"))
	if got := feasible(); got != "a" {
		t.Errorf("after: %q, want a", got)
	}
	m.Cluster.Move(podID(t, m, "x-0"), cluster.NoNode)
	if got := feasible(); got != "a b" {
		t.Errorf("gone: %q, want a b", got)
	}
}

// TestEphemeralVolumes: the replacement gets a new claim for an ephemeral volume, which may be on
// any node, regardless of the victim's claim.
func TestEphemeralVolumes(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	late := "late"
	b.app("x", 100, func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "e", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &late}}}}}}
	}, "a", "b")
	b.storageClass("late", driver, storagev1.VolumeBindingWaitForFirstConsumer)
	b.csiNode("a", 1)
	b.csiNode("b", 2)
	for _, p := range []string{"x-0", "x-1"} {
		b.boundClaim(p+"-e", zoneAffinity("za")).OwnerReferences = ownerRef(b.pod(p))
	}
	m := b.model(t)
	p := m.Predict(podID(t, m, "x-0"))
	if got := nodeNames(m, p.Terminating.Feasible) + "; " + nodeNames(m, p.Gone.Feasible); got != "b; a b" {
		t.Errorf("%q %s, want b; a b", got, p.UnsupportedReason)
	}
	if m.Cluster.PodClass[podID(t, m, "x-0")] != m.Cluster.PodClass[podID(t, m, "x-1")] {
		t.Error("pods of one template are told apart")
	}
}
