package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// scoreSpread scores the soft spread constraints. The raw score of a node is the rounded sum, over
// the constraints whose label it has, of
//
//	matching pods of its domain x ln(domains + 2) + maxSkew - 1
//
// The score is 100 (most + least - raw) / most. Only domains of feasible nodes count. For
// kubernetes.io/hostname, each feasible node is a domain.
func scoreSpread(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	rules := &r.Replacement.Spread
	if len(rules.Soft) == 0 || len(feasible) == 0 {
		return
	}
	b := r.Scratch
	b.Skip, b.RawSpread = cycle.ResizeZeroed(b.Skip, len(feasible)), cycle.ResizeZeroed(b.RawSpread, len(feasible))
	skipped := 0
	for i, n := range feasible {
		if rules.RequireAllKeys && !rules.SoftKeyNodes[n] {
			b.Skip[i] = true
			skipped++
		}
	}
	for k := range rules.Soft {
		c := &rules.Soft[k]
		if c.Hostname {
			weight := math.Log(float64(len(feasible) - skipped + 2))
			for i, n := range feasible {
				if !b.Skip[i] && c.Topology.Domain[n] != model.NoDomain {
					b.RawSpread[i] += SpreadTerm(c.Pods.CountOn(n), weight, c.MaxSkew)
				}
			}
			continue
		}
		addDomainTerms(r, c, feasible)
	}
	normaliseSpread(r.Scratch, out)
}

// normaliseSpread rounds and inverts the raw scores. Few values differ, so small tables save most
// of the rounding and dividing.
func normaliseSpread(b *cycle.Scratch, out []int64) {
	least, most := int64(math.MaxInt64), int64(0)
	var raw [16]float64
	var rounded [16]int64
	for i := range out {
		if b.Skip[i] {
			continue
		}
		x := b.RawSpread[i]
		k := math.Float64bits(x) * 0x9e3779b97f4a7c15 >> 60
		if raw[k] != x {
			raw[k], rounded[k] = x, int64(math.Round(x))
		}
		v := rounded[k]
		out[i] = v
		least, most = min(least, v), max(most, v)
	}
	var of, score [16]int64
	for i, v := range out {
		k := v & 15
		switch {
		case b.Skip[i]:
			out[i] = 0
			continue
		case most == 0:
			out[i] = scheduler.MaxScore
			continue
		case of[k] != v+1: // 0: the entry is empty
			of[k], score[k] = v+1, scheduler.MaxScore*(most+least-v)/most
		}
		out[i] = score[k]
	}
}

// addDomainTerms adds the term of a constraint on a label other than the host name. With the system
// defaults, nodes without the label form one domain with the empty value. These nodes count as a
// domain, but their score has no term for the constraint.
func addDomainTerms(r *cycle.Attempt, c *cycle.SpreadConstraint, feasible []cluster.NodeID) {
	b := r.Scratch
	candidate := cycle.ResizeZeroed(b.Seen, c.Topology.Size)
	b.Seen = candidate
	domains := 0
	for i, n := range feasible {
		if x := DomainOrEmpty(c.Topology, int(n)); !b.Skip[i] && !candidate[x] {
			candidate[x] = true
			domains++
		}
	}
	d := CountSpreadPods(r, c)
	weight := math.Log(float64(domains + 2))
	for i, n := range feasible {
		if x := c.Topology.Domain[n]; !b.Skip[i] && x != model.NoDomain {
			b.RawSpread[i] += SpreadTerm(d[x], weight, c.MaxSkew)
		}
	}
}

// CountSpreadPods counts the pods that match a spread constraint by domain.
func CountSpreadPods(r *cycle.Attempt, c *cycle.SpreadConstraint) []int32 {
	d, rules := r.Scratch.ResetCounts(r.FilterSlots, c.Topology.Size), &r.Replacement.Spread
	for _, x := range c.Pods.Nodes {
		if n := int(x.Node); c.CountedNodes[n] && (!rules.RequireAllKeys || rules.SoftKeyNodes[n]) {
			d[DomainOrEmpty(c.Topology, n)] += x.Pods
		}
	}
	return d
}

// SpreadTerm returns the term of one constraint. The product is rounded before the addition, so
// every processor computes the same sum.
func SpreadTerm(pods int32, weight float64, maxSkew int64) float64 {
	return float64(float64(pods)*weight) + float64(maxSkew-1)
}

// DomainOrEmpty returns the domain of a node; 0 if it has none.
func DomainOrEmpty(t *model.Topology, n int) int32 {
	return max(t.Domain[n], 0)
}
