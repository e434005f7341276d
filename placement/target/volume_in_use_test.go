package target

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestVolumeInUse shares volumes of every kind between pod a on n1 and pod b, and says to which nodes pod a may be
// sent.
func TestVolumeInUse(t *testing.T) {
	pod := func(name, node, more string) string {
		return fmt.Sprintf("- {kind: Pod, metadata: {name: %s}, spec: {nodeName: %s, %s}}\n", name, node, more)
	}
	const claim = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"
	volume := func(modes, source string) string {
		return fmt.Sprintf("- {kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [%s], %s}}\n"+
			"- {kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: pv}}\n", modes, source)
	}
	const once, csi = "ReadWriteOnce", "csi: {driver: d, volumeHandle: h}"
	attachment := func(node string) string {
		return "- {kind: VolumeAttachment, metadata: {name: va-" + node + "}, spec: {attacher: d, nodeName: " + node + ", source: {persistentVolumeName: pv}}}\n"
	}
	both := pod("a", "n1", claim) + pod("b", "n1", claim)
	for _, c := range []struct{ name, objects, may string }{
		{"CSI", volume(once, csi) + both, "n1"},
		{"CSI, one pod only", volume(once, csi) + pod("a", "n1", claim) + attachment("n1"), "n1 n2 n3"},
		{"CSI, the other pod elsewhere", volume(once, csi) + pod("a", "n1", claim) + pod("b", "n2", claim), ""},
		{"CSI, the other pod waits for a node", volume(once, csi) + pod("a", "n1", claim) + "- {kind: Pod, metadata: {name: b}, spec: {" + claim + "}, status: {phase: Pending}}\n", "n1 n2 n3"},
		{"CSI, the other pod has ended", volume(once, csi) + both + "- {kind: Pod, metadata: {name: b}, status: {phase: Succeeded}}\n", "n1 n2 n3"},
		{"CSI, the other pod terminates", volume(once, csi) + both + "- {kind: Pod, metadata: {name: b, deletionTimestamp: \"2026-01-02T00:00:00Z\"}}\n", "n1"},
		{"CSI, the other pod starts", volume(once, csi) + both + "- {kind: Pod, metadata: {name: b}, status: {phase: Pending}}\n", "n1"},
		{"block volume with an attachment left", volume(once, "volumeMode: Block, "+csi) + pod("a", "n1", claim) + attachment("n1") + attachment("n2"), ""},
		{"attached to a node that is gone", volume(once, csi) + pod("a", "n1", claim) + attachment("n9"), ""},
		{"ReadWriteOncePod", volume("ReadWriteOncePod", csi) + both, "n1"},
		{"ReadWriteMany as well", volume("ReadWriteOnce, ReadWriteMany", csi) + both, "n1 n2 n3"},
		{"ReadOnlyMany", volume("ReadOnlyMany", csi) + both, "n1 n2 n3"},
		{"a driver that attaches nothing", volume(once, csi) + both + "- {kind: CSIDriver, metadata: {name: d}, spec: {attachRequired: false}}\n", "n1 n2 n3"},
		{"a driver that attaches", volume(once, csi) + both + "- {kind: CSIDriver, metadata: {name: d}, spec: {attachRequired: true}}\n", "n1"},
		{"two volumes of one handle", volume(once, csi) + "- {kind: PersistentVolume, metadata: {name: pv2}, spec: {accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: h}}}\n" +
			"- {kind: PersistentVolumeClaim, metadata: {name: c2}, spec: {volumeName: pv2}}\n" + pod("a", "n1", claim) +
			pod("b", "n1", "volumes: [{name: v, persistentVolumeClaim: {claimName: c2}}]"), "n1"},
		{"EBS of the in-tree plugin", volume(once, "awsElasticBlockStore: {volumeID: vol-1}") + both, "n1"},
		{"iSCSI", volume(once, "iscsi: {targetPortal: p, iqn: i, lun: 1}") + both, "n1"},
		{"Fibre Channel", volume(once, "fc: {lun: 1}") + both, "n1"},
		{"NFS", volume(once, "nfs: {server: s, path: /}") + both, "n1 n2 n3"},
		{"Cinder in the pod spec", pod("a", "n1", "volumes: [{name: v, cinder: {volumeID: disk-1}}]") + pod("b", "n1", "volumes: [{name: w, cinder: {volumeID: disk-1}}]"), "n1"},
		{"two Cinder disks", pod("a", "n1", "volumes: [{name: v, cinder: {volumeID: disk-1}}]") + pod("b", "n1", "volumes: [{name: w, cinder: {volumeID: disk-2}}]"), "n1 n2 n3"},
		{"another pod uses the claim of the ephemeral volume", "- {kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: h}}}\n" +
			"- {kind: PersistentVolumeClaim, metadata: {name: a-v, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, controller: true}]}, spec: {volumeName: pv}}\n" +
			pod("a", "n1", "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]") + pod("b", "n1", "volumes: [{name: v, persistentVolumeClaim: {claimName: a-v}}]"), "n1 n2 n3"},
		{"unbound claim", "- {kind: PersistentVolumeClaim, metadata: {name: c}}\n" + both, "n1 n2 n3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := &scenario.Scenario{Cluster: []byte("objects:\n- {kind: Namespace, metadata: {name: shop}}\n- {kind: Node, metadata: {name: n1}}\n" +
				"- {kind: Node, metadata: {name: n2}}\n- {kind: Node, metadata: {name: n3}}\n" + c.objects)}
			s := must.Get(cluster.New(sc.Objects(t)))(t)
			targets, p, may := New(s, cluster.Scope{}, nil), s.PodByKey("shop/a"), []string{}
			for i := range s.Nodes {
				rule, words, refused := targets.Why(p, &s.Nodes[i])
				if refused == targets.Of(p).May[i] || refused && (Rules[rule].Code != plan.VolumeInUse || !strings.HasPrefix(words, "unable to attach ")) {
					t.Errorf("%s: refused %t, %q", s.Nodes[i].Name, refused, words)
				}
				if !refused {
					may = append(may, s.Nodes[i].Name)
				}
			}
			if got := strings.Join(may, " "); got != c.may {
				t.Errorf("may be sent to %q, want %q", got, c.may)
			}
		})
	}
}
