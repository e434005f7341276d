package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// Below minSampled nodes the scheduler judges all of them, and it never stops
// before it has found so many feasible ones. Without a configured share of the
// nodes it looks at 50 %, less 1 % per 125 nodes, and at no less than 5 %
// (pkg/scheduler, numFeasibleNodesToFind).
const (
	minSampled     = 100
	minSamplePart  = 5
	fullSamplePart = 50
	nodesPerPart   = 125
)

// sampleSize returns how many feasible nodes the scheduler looks for among all
// nodes before it stops.
func sampleSize(nodes, percentage int) int {
	if nodes < minSampled {
		return nodes
	}
	if percentage == 0 {
		percentage = max(fullSamplePart-nodes/nodesPerPart, minSamplePart)
	}
	return max(nodes*percentage/100, minSampled)
}

// walkOrder is the order in which the scheduler looks at nodes: one node of
// each zone in turn. Nodes of a zone, and zones, come in the order in which the
// scheduler heard of them; taken here is that of the names, in which it lists
// the nodes that are there when it starts.
func walkOrder(s *cluster.Snapshot) []cluster.NodeID {
	var zones [][]cluster.NodeID
	number := map[[2]string]int{}
	for i := range s.Nodes {
		key := zoneOf(s.Nodes[i].Object)
		z, ok := number[key]
		if !ok {
			z = len(zones)
			number[key] = z
			zones = append(zones, nil)
		}
		zones[z] = append(zones[z], cluster.NodeID(i))
	}
	out := make([]cluster.NodeID, 0, len(s.Nodes))
	for k := 0; len(out) < len(s.Nodes); k++ {
		for _, z := range zones {
			if k < len(z) {
				out = append(out, z[k])
			}
		}
	}
	return out
}

// zoneOf returns region and zone; the old labels come first, as they do in the
// scheduler.
func zoneOf(n *corev1.Node) [2]string {
	label := func(old, now string) string {
		if v, ok := n.Labels[old]; ok {
			return v
		}
		return n.Labels[now]
	}
	return [2]string{
		label(corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion),
		label(corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone),
	}
}

// sampler judges every sample that the scheduler may take. A sample is a window
// of `size` feasible nodes that follow each other on the walk around the nodes;
// where the walk begins is not known, so every node is as likely a start.
type sampler struct {
	r      *round
	size   int
	nodes  []cluster.NodeID // feasible, in the order of the walk
	index  []int32          // of each in the scratch's slices
	weight []float64        // probability of the window that begins with each; sums to 1
	norms  []norm
	group  []int32 // index in norms, by window
}

// sampled returns the winners over all samples, sorted, and their probabilities.
// It is exact unless more normalisations occur than are told apart; see
// tellApart. It expects the scratch to hold the scores of all feasible nodes.
func (r *round) sampled(feasible []cluster.NodeID, size int) ([]cluster.NodeID, []float64) {
	s := &sampler{r: r, size: size}
	s.line(feasible)
	s.normalisations()
	odds := make([]float64, len(s.nodes))
	total := make([]int64, len(s.nodes))
	c := newContest(len(s.nodes), size)
	for g := range s.norms {
		s.totals(g, total)
		c.hold(total, s.weight, s.group, int32(g), odds)
	}
	byNode := r.w.buf.raw[:0]
	byNode = append(byNode, make([]float64, len(feasible))...)
	for k, p := range odds {
		byNode[s.index[k]] = p
	}
	r.w.buf.raw = byNode
	var winners []cluster.NodeID
	var share []float64
	for i, p := range byNode {
		if p > noise {
			winners, share = append(winners, feasible[i]), append(share, p)
		}
	}
	return winners, share
}

// noise is what rounding leaves of a sum of probabilities that is zero.
const noise = 1e-12

// line puts the feasible nodes in the order of the walk. A window begins with a
// node when the walk begins there, or at a node before it that is not feasible.
func (s *sampler) line(feasible []cluster.NodeID) {
	w := s.r.w
	if w.walk == nil {
		w.walk = walkOrder(w.snap)
	}
	all := len(w.walk)
	at := make([]int32, all)
	for i, n := range feasible {
		at[n] = int32(i) + 1
	}
	s.nodes = make([]cluster.NodeID, 0, len(feasible))
	s.index = make([]int32, 0, len(feasible))
	s.weight = make([]float64, 0, len(feasible))
	starts := 0
	for _, n := range w.walk {
		starts++
		if at[n] == 0 {
			continue
		}
		s.nodes, s.index = append(s.nodes, n), append(s.index, at[n]-1)
		s.weight = append(s.weight, float64(starts)/float64(all))
		starts = 0
	}
	s.weight[0] += float64(starts) / float64(all)
}

// tellApart is how many node totals are computed at most for one state of the
// victim. With n feasible nodes tellApart/n normalisations are told apart, at
// least 4; rarer ones are taken for the most frequent one. Up to 300 nodes that
// is all of them.
const tellApart = 90_000

// group sorts the windows by how their scores are normalised.
func (s *sampler) normalisations() {
	of := s.normOf()
	s.group = make([]int32, len(s.nodes))
	number := map[norm]int32{}
	var weights []float64
	for a := range s.nodes {
		x := of(a)
		if a > 0 && x == s.norms[s.group[a-1]] {
			s.group[a] = s.group[a-1]
		} else if g, ok := number[x]; ok {
			s.group[a] = g
		} else {
			g = int32(len(s.norms))
			number[x], s.group[a] = g, g
			s.norms, weights = append(s.norms, x), append(weights, 0)
		}
		weights[s.group[a]] += s.weight[a]
	}
	s.keep(weights, max(4, tellApart/len(s.nodes)))
}

// keep leaves the k normalisations with the greatest weights.
func (s *sampler) keep(weights []float64, k int) {
	if len(s.norms) <= k {
		return
	}
	order := make([]int32, len(s.norms))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case weights[a] > weights[b]:
			return -1
		case weights[a] < weights[b]:
			return 1
		}
		return 0
	})
	norms, now := make([]norm, k), make([]int32, len(s.norms))
	for i, g := range order {
		if i < k {
			norms[i], now[g] = s.norms[g], int32(i)
		}
	}
	for a, g := range s.group {
		s.group[a] = now[g]
	}
	s.norms = norms
}
