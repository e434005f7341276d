package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// changed notes that pods came to or left a node. The list is cut when it gets
// longer than looking at every node; whoever has not read it then does that.
func (w *clusterState) changed(n cluster.NodeID) {
	if len(w.changes) >= len(w.snap.Nodes) {
		w.forgotten += len(w.changes)
		w.changes = w.changes[:0]
	}
	w.changes = append(w.changes, n)
}
