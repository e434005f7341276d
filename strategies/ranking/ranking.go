// Package ranking finds the nodes that are better for a pod than its own node, if the nodes have a rank. It shares its
// results between pods with the same node constraints.
//
// The package decides which nodes rank higher. It never decides where a replacement lands.
package ranking

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
)

// Ranking ranks the nodes for pods of one class.
type Ranking struct {
	nodes  *Nodes
	ranks  []int64
	best   int64
	canRun []bool            // by node: the pods can run there, and may be sent there
	better map[int64]*Better // by rank; nil: no node is better
}

// Better are the nodes that rank higher than one node and on which the pods can run.
type Better struct {
	// Targets marks these nodes. Goals share the slice.
	Targets []bool
	Count   int
	// Best is the highest rank of them.
	Best int64
}

// New returns a ranking for the pods of the class of this one. ranks are the ranks by node; higher is better.
func (n *Nodes) New(p *cluster.Pod, ranks []int64) *Ranking {
	r := &Ranking{nodes: n, ranks: n.shared(ranks), better: map[int64]*Better{}}
	if len(ranks) > 0 {
		r.best = slices.Max(ranks)
	}
	groups, canRun := n.ByLabels(requiredLabels(&p.Object.Spec), true), filter.CanRunFunc(p.Object)
	ofGroup := make([]bool, len(groups.First))
	for i, first := range groups.First {
		ofGroup[i] = canRun(first)
	}
	r.canRun = make([]bool, len(ranks))
	may := n.targets.Of(p).May
	for i, g := range groups.Of {
		r.canRun[i] = ofGroup[g] && may[i]
	}
	return r
}

// shared returns an earlier list with the same ranks, or this one.
func (n *Nodes) shared(ranks []int64) []int64 {
	key := hash(ranks)
	for _, list := range n.lists[key] {
		if slices.Equal(list, ranks) {
			return list
		}
	}
	n.lists[key] = append(n.lists[key], ranks)
	return ranks
}

// hash returns the FNV-1a hash of the ranks.
func hash(ranks []int64) uint64 {
	h, buf := fnv.New64a(), make([]byte, 0, 8)
	for _, r := range ranks {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(buf[:0], uint64(r)))
	}
	return h.Sum64()
}

// bestToRunOn returns the highest rank of a node on which the pods can run. It returns false if there is none.
func (r *Ranking) bestToRunOn() (best int64, some bool) {
	for i, rank := range r.ranks {
		if r.canRun[i] && (!some || rank > best) {
			best, some = rank, true
		}
	}
	return best, some
}

// Rank returns the rank of a node.
func (r *Ranking) Rank(n cluster.NodeID) int64 { return r.ranks[n] }

// Better returns the nodes that rank higher than this one, or nil if there is none. The pods can run on a node if its
// readiness, cordon, labels and taints allow it, and they may be sent there; free resources and other pods do not
// matter.
func (r *Ranking) Better(than cluster.NodeID) *Better {
	own := r.ranks[than]
	if own >= r.best {
		return nil
	}
	b, known := r.better[own]
	if !known {
		b = r.find(own)
		r.better[own] = b
	}
	return b
}

func (r *Ranking) find(own int64) *Better {
	var b *Better
	for i, rank := range r.ranks {
		if rank <= own || !r.canRun[i] {
			continue
		}
		if b == nil {
			b = &Better{Targets: make([]bool, len(r.ranks)), Best: rank}
		}
		b.Targets[i], b.Count, b.Best = true, b.Count+1, max(b.Best, rank)
	}
	return b
}

// requiredLabels returns the labels of nodes that the node selector and the required node affinity of a pod read.
func requiredLabels(s *corev1.PodSpec) []string {
	keys := slices.Collect(maps.Keys(s.NodeSelector))
	if a := s.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for i := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			keys = append(keys, LabelsOf(&a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i])...)
		}
	}
	return keys
}

// RequiredGroups groups the nodes that look the same to the node selector and the required node affinity of a pod.
func (n *Nodes) RequiredGroups(s *corev1.PodSpec) *Groups {
	return n.ByLabels(requiredLabels(s), false)
}

// LabelsOf returns the labels that a term reads, for ByLabels.
func LabelsOf(t *corev1.NodeSelectorTerm) []string {
	var keys []string
	for i := range t.MatchExpressions {
		keys = append(keys, t.MatchExpressions[i].Key)
	}
	if len(t.MatchFields) > 0 {
		keys = append(keys, nameField)
	}
	return keys
}
