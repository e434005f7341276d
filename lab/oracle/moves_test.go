package oracle

import (
	"math/rand"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestMovesKeepEveryCount moves pods about in the worlds of random clusters,
// asking now and then, and compares what is foretold in the end with a world
// that is made anew from where the pods then stand. Attachments are left out:
// they go with their pods in the one and stay in the other.
func TestMovesKeepEveryCount(t *testing.T) {
	for seed := range int64(150) {
		o := generate(seed)
		o.VolumeAttachments = nil
		w, moved, r := worldOf(t, o), copied(o), rand.New(rand.NewSource(seed))
		nodes, pods := w.Snapshot().Nodes, w.Snapshot().Pods
		for range 2 * len(pods) {
			p, to := &pods[r.Intn(len(pods))], &nodes[r.Intn(len(nodes))]
			w.Move(p.ID, to.ID)
			for i, x := range o.Pods {
				if x == p.Object {
					moved.Pods[i].Spec.NodeName = to.Name
				}
			}
			w.Predict(pods[r.Intn(len(pods))].ID)
		}
		anew := worldOf(t, moved)
		for i := range pods {
			p := cluster.PodID(i)
			if x, y := w.Predict(p), anew.Predict(p); !same(x.Terminating, y.Terminating) || !same(x.Gone, y.Gone) {
				t.Errorf("cluster %d, pod %s: %+v after the moves, %+v anew", seed, pods[i].Object.Name, x, y)
			}
		}
	}
}
