package cluster_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// TestRedactionKeepsMigratedPlugins checks that predictions of older schedulers can be repeated: they count Portworx
// volumes only on nodes with this annotation.
func TestRedactionKeepsMigratedPlugins(t *testing.T) {
	n := &storagev1.CSINode{}
	n.Name = "a"
	n.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/portworx-volume", "note": "secret"}
	out := cluster.Redact(&cluster.Objects{CSINodes: []*storagev1.CSINode{n}}).CSINodes[0].Annotations
	if len(out) != 1 || out[corev1.MigratedPluginsAnnotationKey] != "kubernetes.io/portworx-volume" {
		t.Errorf("annotations %v, want only the migrated plugins", out)
	}
}
