package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// inBothVictimStates calls f while the victim terminates, then once it is gone. It restores
// the victim afterwards.
func inBothVictimStates(m *model.Cluster, p cluster.PodID, f func(gone bool)) {
	n := m.PodNode[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	m.AdjustSpread(p, n, -1)
	f(false)
	m.Attachments.VictimNode = n
	m.AdjustUsage(p, n, -1)
	f(true)
	m.Attachments.VictimNode = cluster.NoNode
	m.AdjustUsage(p, n, 1)
	m.AdjustSpread(p, n, 1)
}
