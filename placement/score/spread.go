package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// scoreSpread is the score of the soft spread constraints. A node's raw score
// is the sum, over the constraints whose label it has, of
//
//	matching pods of its domain x ln(domains + 2) + maxSkew - 1
//
// rounded, and 100 (most + least - raw) / most is what it gets. Domains are
// those of feasible nodes; for kubernetes.io/hostname they are the feasible
// nodes themselves.
func scoreSpread(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	rules := &r.Replacement.Spread
	if len(rules.Soft) == 0 || len(feasible) == 0 {
		return
	}
	b := r.Scratch
	b.Skip, b.RawSpread = cycle.ResizeBool(b.Skip, len(feasible)), cycle.ResizeFloat64(b.RawSpread, len(feasible))
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
					b.RawSpread[i] += SpreadTerm(c.Pods.On(n), weight, c.MaxSkew)
				}
			}
			continue
		}
		addDomainTerms(r, c, feasible)
	}
	normaliseSpread(r.Scratch, out)
}

// normaliseSpread rounds the raw scores and turns them round. Few values differ,
// so results are kept in small tables: rounding and dividing is what costs.
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
		case of[k] != v+1: // 0 stands for none
			of[k], score[k] = v+1, scheduler.MaxScore*(most+least-v)/most
		}
		out[i] = score[k]
	}
}

// addDomainTerms adds the term of a constraint other than on the host name.
// Under the system's defaults a node without the label belongs to the domain
// with the empty value for the number of domains and their counts, yet is given
// no term itself.
func addDomainTerms(r *cycle.Attempt, c *cycle.SpreadConstraint, feasible []cluster.NodeID) {
	b := r.Scratch
	candidate := cycle.ResizeBool(b.Seen, c.Topology.Size)
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

// CountSpreadPods counts the matching pods by domain.
func CountSpreadPods(r *cycle.Attempt, c *cycle.SpreadConstraint) []int32 {
	d, rules := r.Scratch.ResetCounts(r.FilterSlots, c.Topology.Size), &r.Replacement.Spread
	for _, x := range c.Pods.Nodes {
		if n := int(x.Node); c.CountedNodes[n] && (!rules.RequireAllKeys || rules.SoftKeyNodes[n]) {
			d[DomainOrEmpty(c.Topology, n)] += x.Pods
		}
	}
	return d
}

// SpreadTerm rounds the product before it adds, so that every processor gives
// the same sum.
func SpreadTerm(pods int32, weight float64, maxSkew int64) float64 {
	return float64(float64(pods)*weight) + float64(maxSkew-1)
}

func DomainOrEmpty(t *model.Topology, n int) int32 {
	return max(t.Domain[n], 0)
}
