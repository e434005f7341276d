package model

import "github.com/evenkeel-project/evenkeel/cluster"

// indexNominated finds the pods that wait for a node which preemption has
// cleared for them.
func (w *Cluster) indexNominated() {
	w.Nominated = map[cluster.NodeID][]cluster.PodID{}
	for i := range w.Snap.Pods {
		p := &w.Snap.Pods[i]
		if p.Terminal || p.Terminating || p.Node != cluster.NoNode || p.Object.Status.NominatedNodeName == "" {
			continue
		}
		if n := w.Snap.NodeByName(p.Object.Status.NominatedNodeName); n != nil {
			w.Nominated[n.ID] = append(w.Nominated[n.ID], p.ID)
		}
	}
}
