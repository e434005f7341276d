package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// inBothStates calls f with the victim terminating, then with the victim gone,
// and puts the victim back.
func inBothStates(w *clusterState, p cluster.PodID, f func(gone bool)) {
	n := w.node[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	w.shiftSpread(p, n, -1)
	f(false)
	w.attachments.leaving = n
	w.shiftRest(p, n, -1)
	f(true)
	w.attachments.leaving = cluster.NoNode
	w.shiftRest(p, n, 1)
	w.shiftSpread(p, n, 1)
}
