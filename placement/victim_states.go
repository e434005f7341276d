package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// inBothStates calls f with the victim terminating, then with the victim gone,
// and puts the victim back.
func inBothStates(w *model.Cluster, p cluster.PodID, f func(gone bool)) {
	n := w.PodNode[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	w.ShiftSpread(p, n, -1)
	f(false)
	w.Attachments.Leaving = n
	w.ShiftUsage(p, n, -1)
	f(true)
	w.Attachments.Leaving = cluster.NoNode
	w.ShiftUsage(p, n, 1)
	w.ShiftSpread(p, n, 1)
}
