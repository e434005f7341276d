package oracle

import (
	"bytes"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestRedactedSnapshotsForetellAlike redacts random clusters, writes them to files and reads them back. Redaction must
// not change any prediction.
func TestRedactedSnapshotsForetellAlike(t *testing.T) {
	for seed := range int64(150) {
		o := generateCluster(seed)
		var b bytes.Buffer
		if err := cluster.Write(&b, cluster.Redact(o), cluster.JSON); err != nil {
			t.Fatal(err)
		}
		again := &cluster.Objects{}
		if err := cluster.Read(&b, "snapshot", again); err != nil {
			t.Fatal(err)
		}
		open, closed := newModel(t, o), newModel(t, again)
		for i := range open.Cluster.Snap.Pods {
			p := open.Cluster.Snap.Pods[i].ID
			x, y := open.Predict(p), closed.Predict(p)
			if x.UnsupportedReason != y.UnsupportedReason || !sameNodes(x.Terminating, y.Terminating) || !sameNodes(x.Gone, y.Gone) ||
				!slices.Equal([]int64{x.Terminating.Best, x.Gone.Best}, []int64{y.Terminating.Best, y.Gone.Best}) {
				t.Errorf("cluster %d, pod %s: predicted %+v, after redaction %+v", seed, open.Cluster.Snap.Pods[i].Object.Name, x, y)
			}
		}
	}
}
