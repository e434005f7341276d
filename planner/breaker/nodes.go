package breaker

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A node that was deleted counts as gone for nodeWindow. After that, fewer nodes are normal: somebody may have scaled
// the cluster down. If no pass ran within nodeWindow, the last pass counts for maxNodeCountAge, so that a pass that runs
// once an hour notices as well.
const (
	nodeWindow      = 30 * time.Minute
	maxNodeCountAge = 2 * time.Hour
)

// RecordNodes adds the number of nodes of a snapshot to the counts of earlier passes, and removes the counts that no
// later pass needs. The result has at most plan.MaxNodeCounts entries, and each has fewer nodes than the one before.
func RecordNodes(earlier []plan.NodeCount, s *cluster.Snapshot) []plan.NodeCount {
	now := plan.NodeCount{At: s.TakenAt.UTC(), Nodes: len(s.Nodes)}
	counts := slices.DeleteFunc(slices.Clone(earlier), func(c plan.NodeCount) bool {
		return !within(c, now.At, nodeWindow) || c.Nodes <= now.Nodes // the newer count lasts longer
	})
	counts = counts[:min(len(counts), plan.MaxNodeCounts-1)]
	return append(counts, now)
}

// expectedNodes returns the count with the most nodes among the recent passes and the snapshot.
func expectedNodes(earlier []plan.NodeCount, s *cluster.Snapshot) plan.NodeCount {
	most := plan.NodeCount{At: s.TakenAt, Nodes: len(s.Nodes)}
	recent := slices.DeleteFunc(slices.Clone(earlier), func(c plan.NodeCount) bool { return !within(c, s.TakenAt, nodeWindow) })
	if n := len(earlier); len(recent) == 0 && n > 0 && within(earlier[n-1], s.TakenAt, maxNodeCountAge) {
		recent = earlier[n-1:]
	}
	for _, c := range recent {
		if c.Nodes > most.Nodes {
			most = c
		}
	}
	return most
}

// within reports whether a count is at most d away from a time. A count of the future means that the clock was set back.
func within(c plan.NodeCount, at time.Time, d time.Duration) bool { return at.Sub(c.At).Abs() <= d }
