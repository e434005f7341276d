package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// inBothStates calls f with the victim terminating, then with the victim gone,
// and puts the victim back.
func inBothStates(w *Cluster, p cluster.PodID, f func(gone bool)) {
	n := w.PodNode[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	w.shiftSpread(p, n, -1)
	f(false)
	w.Attachments.Leaving = n
	w.shiftUsage(p, n, -1)
	f(true)
	w.Attachments.Leaving = cluster.NoNode
	w.shiftUsage(p, n, 1)
	w.shiftSpread(p, n, 1)
}
