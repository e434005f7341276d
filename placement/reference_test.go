package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// reference predicts a replacement exhaustively: it examines every node with every filter, and scores the sample of
// every start by the formulas of the scheduler's plugins.
type reference struct {
	m        *ClusterModel
	in       *cycle.Replacement
	feasible []cluster.NodeID // in the order in which the scheduler examines nodes
	nodes    map[cluster.NodeID]*referenceNode
}

// referenceNode holds the raw scores of a node.
type referenceNode struct {
	fixed, taints, preferred, interPod int64
	pods                               []int64 // by soft constraint: matching pods in the node's domain; -1 without the label
	lacksKey                           bool    // the node is not scored by soft constraints
}

func newReference(m *ClusterModel, p cluster.PodID) *reference {
	r := &reference{m: m, in: m.replacementOf(p), nodes: map[cluster.NodeID]*referenceNode{}}
	refused := m.rejections(r.in, p)
	for _, n := range m.Cluster.InitNodeOrder() {
		if refused[n] == "" {
			r.feasible = append(r.feasible, n)
			r.nodes[n] = r.newNode(n)
		}
	}
	return r
}

func (r *reference) newNode(n cluster.NodeID) *referenceNode {
	x, in, static := &referenceNode{}, r.in, &r.in.StaticScores
	for _, s := range score.Plugins(in.Profile) {
		if s.NodeScore != nil {
			x.fixed += s.Weight * s.NodeScore(r.m.Cluster, in, n)
		}
	}
	x.taints = static.PreferNoSchedule[n] + static.HintTaint*r.m.Cluster.Hints.ExtraTaints(n)
	if static.Preferred != nil {
		x.preferred = static.Preferred[n]
	}
	for _, t := range in.InterPod.Scored {
		x.interPod += t.Weight * max(0, podsInDomain(n, t.Topology, t.Pods, func(cluster.NodeID) bool { return true }))
	}
	x.lacksKey = in.Spread.RequireAllKeys && !in.Spread.SoftKeyNodes[n]
	for i := range in.Spread.Soft {
		c := &in.Spread.Soft[i]
		x.pods = append(x.pods, podsInDomain(n, c.Topology, c.Pods, func(o cluster.NodeID) bool {
			return c.Hostname && o == n || !c.Hostname && c.CountedNodes[o] && (!in.Spread.RequireAllKeys || in.Spread.SoftKeyNodes[o])
		}))
	}
	return x
}

// podsInDomain counts the pods in the domain of a node, on the nodes that count; -1 if the node has no domain.
func podsInDomain(n cluster.NodeID, t *model.Topology, pods *model.PodCounter, counts func(cluster.NodeID) bool) (sum int64) {
	if t.Domain[n] == model.NoDomain {
		return -1
	}
	for _, x := range pods.Nodes {
		if t.Domain[x.Node] == t.Domain[n] && counts(x.Node) {
			sum += int64(x.Pods)
		}
	}
	return sum
}

// rawSpread returns the raw spread scores of the nodes of a sample.
func (r *reference) rawSpread(sample []cluster.NodeID) []int64 {
	sums := make([]float64, len(sample))
	for i := range r.in.Spread.Soft {
		c, domains := &r.in.Spread.Soft[i], map[int32]bool{}
		for k, n := range sample {
			switch {
			case r.nodes[n].lacksKey:
			case c.Hostname:
				domains[int32(k)] = true
			default:
				domains[max(c.Topology.Domain[n], 0)] = true // the empty value stands for no label
			}
		}
		for k, n := range sample {
			if pods := r.nodes[n].pods[i]; pods >= 0 {
				sums[k] += float64(float64(pods)*math.Log(float64(len(domains)+2))) + float64(c.MaxSkew-1)
			}
		}
	}
	out := make([]int64, len(sample))
	for k, sum := range sums {
		out[k] = int64(math.Round(sum))
	}
	return out
}

// totals returns the total scores of the nodes of a sample.
func (r *reference) totals(sample []cluster.NodeID) []int64 {
	weights, spread := &r.in.Profile.Weights, r.rawSpread(sample)
	var taints, preferred, mostSpread int64
	leastPods, mostPods, leastSpread := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64)
	for k, n := range sample {
		x := r.nodes[n]
		taints, preferred = max(taints, x.taints), max(preferred, x.preferred)
		leastPods, mostPods = min(leastPods, x.interPod), max(mostPods, x.interPod)
		if !x.lacksKey {
			leastSpread, mostSpread = min(leastSpread, spread[k]), max(mostSpread, spread[k])
		}
	}
	out := make([]int64, len(sample))
	for k, n := range sample {
		x := r.nodes[n]
		out[k] = x.fixed + weights.TaintToleration*(100-100*x.taints/max(taints, 1)) + weights.NodeAffinity*(100*x.preferred/max(preferred, 1))
		if mostPods > leastPods {
			out[k] += weights.InterPodAffinity * int64(100*(float64(x.interPod-leastPods)/float64(mostPods-leastPods)))
		}
		switch {
		case len(r.in.Spread.Soft) == 0 || x.lacksKey:
		case mostSpread == 0:
			out[k] += weights.PodTopologySpread * 100
		default:
			out[k] += weights.PodTopologySpread * (100 * (mostSpread + leastSpread - spread[k]) / mostSpread)
		}
	}
	return out
}

// windowOdds returns the probability of each node and the best total, with the sample of every start.
func (r *reference) windowOdds(size int) (odds map[cluster.NodeID]float64, best int64) {
	odds, best = map[cluster.NodeID]float64{}, math.MinInt64
	starts := make([]int, len(r.feasible)) // by first node of the sample
	at := 0
	for _, n := range r.m.Cluster.NodeOrder {
		starts[at%len(starts)]++
		if r.nodes[n] != nil {
			at++
		}
	}
	twice := slices.Concat(r.feasible, r.feasible)
	for first, count := range starts {
		sample := twice[first : first+size]
		totals := r.totals(sample)
		most := slices.Max(totals)
		best = max(best, most)
		var winners []cluster.NodeID
		for k, total := range totals {
			if total == most {
				winners = append(winners, sample[k])
			}
		}
		for _, n := range winners {
			odds[n] += float64(count) / float64(len(winners)*len(r.m.Cluster.NodeOrder))
		}
	}
	return odds, best
}

// randomOdds returns the probability of each node in a random sample. As in the predictor, a node counts only if some
// sample in 10,000 has no better one.
func (r *reference) randomOdds(size int) map[cluster.NodeID]float64 {
	odds, totals := map[cluster.NodeID]float64{}, r.totals(r.feasible)
	order := make([]int, len(totals))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(totals[b], totals[a]) })
	without := func(k int) float64 { return probabilityWithoutNodes(len(order), k, size) }
	for from := 0; from < len(order) && without(from) >= 1e-4; {
		to := from
		for to < len(order) && totals[order[to]] == totals[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			odds[r.feasible[i]] = (without(from) - without(to)) / float64(to-from)
		}
		from = to
	}
	sum := 0.0
	for _, p := range odds {
		sum += p
	}
	for n := range odds {
		odds[n] /= sum
	}
	return odds
}

// probabilityWithoutNodes returns the share of the samples of this size, out of n nodes, that
// contain none of k nodes.
func probabilityWithoutNodes(n, k, size int) float64 {
	if n-k < size {
		return 0
	}
	f := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(f(n-k) - f(n-k-size) - f(n) + f(n-size))
}

// predict returns the state that the model is in.
func (r *reference) predict(randomWeight float64) (s prediction.State) {
	if len(r.feasible) == 0 {
		return s
	}
	s.Feasible = slices.Sorted(slices.Values(r.feasible))
	size := fast.SampleSize(len(r.m.Cluster.Snap.Nodes), r.in.Profile.PercentageOfNodesToScore)
	if size >= len(r.feasible) {
		totals := r.totals(s.Feasible)
		s.Best = slices.Max(totals)
		for i, n := range s.Feasible {
			if totals[i] == s.Best {
				s.Winners = append(s.Winners, n)
			}
		}
		return s
	}
	odds := map[cluster.NodeID]float64{}
	windows, best := r.windowOdds(size)
	for n, p := range windows {
		odds[n] += (1 - randomWeight) * p
	}
	if randomWeight > 0 {
		for n, p := range r.randomOdds(size) {
			odds[n] += randomWeight * p
		}
	}
	for _, n := range s.Feasible {
		if odds[n] > 0 {
			s.Winners, s.Odds = append(s.Winners, n), append(s.Odds, odds[n])
		}
	}
	s.SampleSize, s.Best = size, best
	return s
}

// referencePrediction predicts both states of the victim exhaustively.
func referencePrediction(m *ClusterModel, p cluster.PodID, randomWeight float64) (terminating, gone prediction.State) {
	m.Cluster.InBothVictimStates(p, func(isGone bool) {
		s := newReference(m, p).predict(randomWeight)
		if isGone {
			gone = s
		} else {
			terminating = s
		}
	})
	return terminating, gone
}
