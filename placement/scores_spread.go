package placement

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// scoreSpread is the score of the soft spread constraints. A node's raw score
// is the sum, over the constraints whose label it has, of
//
//	matching pods of its domain x ln(domains + 2) + maxSkew - 1
//
// rounded, and 100 (most + least - raw) / most is what it gets. Domains are
// those of feasible nodes; for kubernetes.io/hostname they are the feasible
// nodes themselves.
func scoreSpread(r *Attempt, feasible []cluster.NodeID, out []int64) {
	rules := &r.Replacement.spread
	if len(rules.soft) == 0 || len(feasible) == 0 {
		return
	}
	b := r.Buf
	b.Skip, b.RawSpread = ResizeBool(b.Skip, len(feasible)), ResizeFloat64(b.RawSpread, len(feasible))
	skipped := 0
	for i, n := range feasible {
		if rules.requireAll && !rules.softNode[n] {
			b.Skip[i] = true
			skipped++
		}
	}
	for k := range rules.soft {
		c := &rules.soft[k]
		if c.hostname {
			weight := math.Log(float64(len(feasible) - skipped + 2))
			for i, n := range feasible {
				if !b.Skip[i] && c.Topology.domain[n] != NoDomain {
					b.RawSpread[i] += SpreadTerm(c.pods.On(n), weight, c.maxSkew)
				}
			}
			continue
		}
		addDomainTerms(r, c, feasible)
	}
	finishSpread(r.Buf, out)
}

// finishSpread rounds the raw scores and turns them round. Few values differ,
// so results are kept in small tables: rounding and dividing is what costs.
func finishSpread(b *Scratch, out []int64) {
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
			out[i] = maxScore
			continue
		case of[k] != v+1: // 0 stands for none
			of[k], score[k] = v+1, maxScore*(most+least-v)/most
		}
		out[i] = score[k]
	}
}

// addDomainTerms adds the term of a constraint other than on the host name.
// Under the system's defaults a node without the label belongs to the domain
// with the empty value for the number of domains and their counts, yet is given
// no term itself.
func addDomainTerms(r *Attempt, c *SpreadConstraint, feasible []cluster.NodeID) {
	b := r.Buf
	candidate := ResizeBool(b.Seen, c.Topology.size)
	b.Seen = candidate
	domains := 0
	for i, n := range feasible {
		if x := DomainOrEmpty(c.Topology, int(n)); !b.Skip[i] && !candidate[x] {
			candidate[x] = true
			domains++
		}
	}
	d := SoftCounts(r, c)
	weight := math.Log(float64(domains + 2))
	for i, n := range feasible {
		if x := c.Topology.domain[n]; !b.Skip[i] && x != NoDomain {
			b.RawSpread[i] += SpreadTerm(d[x], weight, c.maxSkew)
		}
	}
}

// SoftCounts counts the matching pods by domain.
func SoftCounts(r *Attempt, c *SpreadConstraint) []int32 {
	d, rules := r.Buf.domains(r.slots, c.Topology.size), &r.Replacement.spread
	for _, x := range c.pods.Nodes {
		if n := int(x.node); c.CountedNodes[n] && (!rules.requireAll || rules.softNode[n]) {
			d[DomainOrEmpty(c.Topology, n)] += x.pods
		}
	}
	return d
}

// SpreadTerm rounds the product before it adds, so that every processor gives
// the same sum.
func SpreadTerm(pods int32, weight float64, maxSkew int64) float64 {
	return float64(float64(pods)*weight) + float64(maxSkew-1)
}

func DomainOrEmpty(t *Topology, n int) int32 {
	return max(t.domain[n], 0)
}
