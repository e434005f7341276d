package model

import "github.com/evenkeel-project/evenkeel/cluster"

// noteChange notes that pods came to or left a node. The list is cut when it gets
// longer than looking at every node; whoever has not read it then does that.
func (w *Cluster) noteChange(n cluster.NodeID) {
	if len(w.Changes) >= len(w.Snap.Nodes) {
		w.DroppedChanges += len(w.Changes)
		w.Changes = w.Changes[:0]
	}
	w.Changes = append(w.Changes, n)
}
