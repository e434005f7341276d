package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// indexNominated finds the pods that wait for a node which preemption has
// cleared for them.
func (w *clusterState) indexNominated() {
	w.nominated = map[cluster.NodeID][]cluster.PodID{}
	for i := range w.snap.Pods {
		p := &w.snap.Pods[i]
		if p.Terminal || p.Terminating || p.Node != cluster.NoNode || p.Object.Status.NominatedNodeName == "" {
			continue
		}
		if n := w.snap.NodeByName(p.Object.Status.NominatedNodeName); n != nil {
			w.nominated[n.ID] = append(w.nominated[n.ID], p.ID)
		}
	}
}
