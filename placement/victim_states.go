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
	w.AdjustSpread(p, n, -1)
	f(false)
	w.Attachments.VictimNode = n
	w.AdjustUsage(p, n, -1)
	f(true)
	w.Attachments.VictimNode = cluster.NoNode
	w.AdjustUsage(p, n, 1)
	w.AdjustSpread(p, n, 1)
}
