package prediction

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Possible returns the nodes on which the replacement may land, sorted.
func (p Prediction) Possible() []cluster.NodeID {
	var out []cluster.NodeID
	for _, s := range [...]struct {
		weight float64
		State
	}{{1 - p.WeightGone, p.Terminating}, {p.WeightGone, p.Gone}} {
		if s.weight > 0 {
			out = append(out, s.Winners...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Prediction says where the replacement of a pod would land.
type Prediction struct {
	// Terminating is the state in which the victim still holds its resources, and inter-pod
	// affinity counts the victim. Topology spread no longer counts the victim.
	Terminating State
	// Gone is the state in which the victim no longer exists.
	Gone State
	// WeightGone is the probability of Gone, 0..1; Terminating has the remainder.
	WeightGone float64
	// UnsupportedReason says why the placement cannot be predicted; empty if it can. With an
	// UnsupportedReason, both states are empty and every probability is 0, including Pending.
	UnsupportedReason string
}

// Prob returns the probability that the replacement lands on a node that `on` accepts.
func (p Prediction) Prob(on func(cluster.NodeID) bool) float64 {
	return (1-p.WeightGone)*p.Terminating.prob(on) + p.WeightGone*p.Gone.prob(on)
}

// ProbOf returns the probability that the replacement lands on this node.
func (p Prediction) ProbOf(n cluster.NodeID) float64 {
	return (1-p.WeightGone)*p.Terminating.probOf(n) + p.WeightGone*p.Gone.probOf(n)
}

// Pending returns the probability that no node is feasible; 0 if the pod is unsupported.
func (p Prediction) Pending() float64 {
	if p.UnsupportedReason != "" {
		return 0
	}
	sum := 0.0
	if len(p.Terminating.Winners) == 0 {
		sum += 1 - p.WeightGone
	}
	if len(p.Gone.Winners) == 0 {
		sum += p.WeightGone
	}
	return sum
}

// Likeliest returns the node with the highest probability. Ties go to the lowest NodeID. The result
// is NoNode if no node is possible.
func (p Prediction) Likeliest() cluster.NodeID {
	return p.LikeliestOf(func(cluster.NodeID) bool { return true })
}

// LikeliestOf is Likeliest among the nodes that `on` accepts.
func (p Prediction) LikeliestOf(on func(cluster.NodeID) bool) cluster.NodeID {
	best, bestProb := cluster.NoNode, 0.0
	a, b := p.Terminating.Winners, p.Gone.Winners
	for i, j := 0, 0; i < len(a) || j < len(b); {
		prob, n := 0.0, cluster.NoNode
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			n, prob = a[i], (1-p.WeightGone)*p.Terminating.WinnerProb(i)
			i++
		} else {
			n = b[j]
		}
		if j < len(b) && b[j] == n {
			prob += p.WeightGone * p.Gone.WinnerProb(j)
			j++
		}
		if prob > bestProb && on(n) {
			best, bestProb = n, prob
		}
	}
	return best
}
