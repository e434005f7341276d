package model

import "github.com/evenkeel-project/evenkeel/cluster"

// recordChange notes that pods came to or left a node. The list is cut when it gets
// longer than looking at every node; whoever has not read it then does that.
func (w *Cluster) recordChange(n cluster.NodeID) {
	if len(w.ChangedNodes) >= len(w.Snap.Nodes) {
		w.DroppedChanges += len(w.ChangedNodes)
		w.ChangedNodes = w.ChangedNodes[:0]
	}
	w.ChangedNodes = append(w.ChangedNodes, n)
}
