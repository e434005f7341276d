package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// NodeVerdict is the result of filters and scores for one node in one state of the victim.
type NodeVerdict struct {
	Node cluster.NodeID
	Gone bool // true: the victim is gone; false: it terminates
	// RefusedBy is the first filter that refuses the node; empty if none does.
	RefusedBy scheduler.Filter
	Why       string // a sentence; empty when the node is feasible
	Scores    []PluginScore
	Total     int64
}

// PluginScore is the score that one plugin gives a node.
type PluginScore struct {
	Plugin     string
	Normalised int64 // 0 to 100; 0 if the plugin does not score this pod
	Weight     int64
}

// Explain returns filter and score results of every node for the pod's replacement: first while the
// victim terminates, then once the victim is gone. Both parts are sorted by node. The scores
// compare all feasible nodes, even where the scheduler only scores a sample of them. Explain
// returns nil if the pod is not supported.
func (m *ClusterModel) Explain(p cluster.PodID) []NodeVerdict {
	if _, ok := m.Supported(p); !ok {
		return nil
	}
	in := m.replacementOf(p)
	var out []NodeVerdict
	m.Cluster.InBothVictimStates(p, func(gone bool) {
		refused, from := m.rejections(in, p), len(out)
		r := cycle.NewAttempt(m.Cluster, &m.scratch, in, p)
		for n, by := range refused {
			out = append(out, NodeVerdict{Node: cluster.NodeID(n), Gone: gone, RefusedBy: by})
			if by != "" {
				out[from+n].Why = filter.RefusalMessage(&r, n, by)
			}
		}
		m.predictor().ScoreFeasible(in, p, func(n cluster.NodeID, s *score.Plugin, value int64) {
			x := &out[from+int(n)]
			x.Scores = append(x.Scores, PluginScore{s.Name, value, s.Weight})
			x.Total += s.Weight * value
		})
	})
	return out
}
