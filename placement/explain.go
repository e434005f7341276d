package placement

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// NodeVerdict is what filters and scores say about one node in one state of the
// victim.
type NodeVerdict struct {
	Node cluster.NodeID
	Gone bool // the victim is gone; false: it still terminates
	// RefusedBy is the first filter that refuses the node, empty for none.
	RefusedBy Filter
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
// the victim terminating, then for the victim gone, each sorted by node. It is
// empty when nothing can be foretold.
func (w *World) Explain(p cluster.PodID) []NodeVerdict {
	if _, ok := w.Supported(p); !ok {
		return nil
	}
	in := w.incomingOf(p)
	var out []NodeVerdict
	w.inBothStates(p, func(gone bool) { out = append(out, w.verdicts(in, gone)...) })
	return out
}

func (w *World) verdicts(in *incoming, gone bool) []NodeVerdict {
	r := w.begin(in)
	var feasible []cluster.NodeID
	out := make([]NodeVerdict, len(w.snap.Nodes))
	for n := range out {
		out[n] = NodeVerdict{Node: cluster.NodeID(n), Gone: gone, RefusedBy: r.refusedBy(n)}
		if out[n].RefusedBy == "" {
			feasible = append(feasible, cluster.NodeID(n))
		} else {
			out[n].Why = w.sentence(in, n, out[n].RefusedBy)
		}
	}
	if len(feasible) == 0 {
		return out
	}
	r.score(feasible)
	for i, n := range feasible {
		for k, s := range in.profile.scorers {
			out[n].Scores = append(out[n].Scores, PluginScore{s.name, w.buf.scores[k][i], s.weight})
		}
		out[n].Total = w.buf.total[i]
	}
	return out
}

// sentence says in words why a filter refuses the node.
func (w *World) sentence(in *incoming, n int, f Filter) string {
	node := &w.snap.Nodes[n]
	switch f {
	case NodeNotReady:
		return fmt.Sprintf("%s is not ready", node.Name)
	case NodeUnschedulable:
		return fmt.Sprintf("%s is cordoned", node.Name)
	case TaintToleration:
		return fmt.Sprintf("%s has a taint that the pod does not tolerate", node.Name)
	case NodeAffinity:
		return fmt.Sprintf("%s does not match the pod's node selector or node affinity, or the scheduler's addedAffinity", node.Name)
	case NodeResourcesFit:
		return fmt.Sprintf("%s has too little %s left", node.Name, w.lacking(in.requests, n))
	case PodTopologySpread:
		return fmt.Sprintf("%s would break a topology spread constraint, or lacks its label", node.Name)
	}
	return fmt.Sprintf("%s does not agree with required pod affinity or anti-affinity", node.Name)
}

// lacking names the first resource of which the node has too little.
func (w *World) lacking(r *cluster.Resources, n int) string {
	l, node := &w.load[n], &w.snap.Nodes[n]
	a := &node.Allocatable
	switch {
	case l.pods+1 > node.AllowedPods:
		return "room for pods"
	case r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-l.milliCPU:
		return "cpu"
	case r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-l.memory:
		return "memory"
	case r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-l.ephemeral:
		return "ephemeral-storage"
	}
	var short []string
	for name, amount := range r.Extended {
		if amount > 0 && amount > a.Extended[name]-l.extended[name] {
			short = append(short, string(name))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return slices.Min(short)
}
