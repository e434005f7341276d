package oracle

import (
	"math/rand"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestMovesKeepEveryCount moves pods in the models of random clusters and predicts placements between the moves. The
// final predictions must equal the predictions of a new model of the final cluster. VolumeAttachments are excluded,
// because the moved model removes them with their pods, but the new model keeps them.
func TestMovesKeepEveryCount(t *testing.T) {
	for seed := range int64(150) {
		o := generateCluster(seed)
		o.VolumeAttachments = nil
		w, moved, r := newModel(t, o), copyObjects(o), rand.New(rand.NewSource(seed))
		nodes, pods := w.Cluster.Snap.Nodes, w.Cluster.Snap.Pods
		for range 2 * len(pods) {
			p, to := &pods[r.Intn(len(pods))], &nodes[r.Intn(len(nodes))]
			w.Cluster.Move(p.ID, to.ID)
			for i, x := range o.Pods {
				if x == p.Object {
					moved.Pods[i].Spec.NodeName = to.Name
				}
			}
			w.Predict(pods[r.Intn(len(pods))].ID)
		}
		anew := newModel(t, moved)
		for i := range pods {
			p := cluster.PodID(i)
			if x, y := w.Predict(p), anew.Predict(p); !sameNodes(x.Terminating, y.Terminating) || !sameNodes(x.Gone, y.Gone) {
				t.Errorf("cluster %d, pod %s: predicted %+v after the moves, %+v with a new model", seed, pods[i].Object.Name, x, y)
			}
		}
	}
}
