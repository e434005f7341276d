package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// NodeVerdict is what filters and scores say about one node in one state of the
// victim.
type NodeVerdict struct {
	Node cluster.NodeID
	Gone bool // the victim is gone; false: it still terminates
	// RefusedBy is the first filter that refuses the node, empty for none.
	RefusedBy scheduler.Filter
	Why       string // a sentence; empty when the node is feasible
	Scores    []PluginScore
	Total     int64
}

// PluginScore is one plugin's part of a node's total.
type PluginScore struct {
	Plugin     string
	Normalised int64 // 0..100, in a legacy Policy 0..10; 0 for a plugin that does not score this pod
	Weight     int64
}

// Explain returns the verdict of every node on the pod's replacement: first for
// the victim terminating, then for the victim gone, each sorted by node. Scores
// are those that the nodes get beside all feasible ones, also where the scheduler
// judges a sample of them. It is empty when nothing can be foretold.
func (w *ClusterModel) Explain(p cluster.PodID) []NodeVerdict {
	if _, ok := w.Supported(p); !ok {
		return nil
	}
	in := w.replacementOf(p)
	var out []NodeVerdict
	inBothStates(w.Cluster, p, func(gone bool) { out = append(out, w.explainNodes(in, p, gone)...) })
	return out
}

func (w *ClusterModel) explainNodes(in *cycle.Replacement, p cluster.PodID, gone bool) []NodeVerdict {
	r := w.newAttempt(in, p)
	var feasible []cluster.NodeID
	out := make([]NodeVerdict, len(w.Snap.Nodes))
	for n := range out {
		out[n] = NodeVerdict{Node: cluster.NodeID(n), Gone: gone, RefusedBy: filter.RefusedBy(&r, n)}
	}
	for n := range out {
		if out[n].RefusedBy == "" && filter.RefusedWithNominatedPods(&r, cluster.NodeID(n)) != "" {
			out[n].RefusedBy = scheduler.NominatedPods
		}
		if out[n].RefusedBy == "" {
			feasible = append(feasible, cluster.NodeID(n))
		} else {
			out[n].Why = filter.Message(&r, n, out[n].RefusedBy)
		}
	}
	r = w.newAttempt(in, p)
	if len(feasible) == 0 {
		return out
	}
	score.Score(&r, feasible)
	for i, n := range feasible {
		for k, s := range in.Scorers {
			out[n].Scores = append(out[n].Scores, PluginScore{s.Name, w.scratch.Scores[k][i], s.Weight})
		}
		out[n].Total = w.scratch.Total[i]
	}
	return out
}
