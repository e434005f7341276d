package fast

import (
	"cmp"
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// maxSoft is how many soft spread constraints, and maxKinds how many kinds of
// nodes, are foretold quickly.
const (
	maxSoft  = 4
	maxKinds = 600
)

// kind is what the relative scores make of a node.
type kind struct {
	raws
	always  int32 // 1 for a group that is in every window
	present int32 // how many nodes, or whether any of a group, are in the window
	raw     int64 // by soft constraints, for the number of domains in the window
	score   int32 // the weighted relative scores in the window
}

// raws are what relative scores are made of.
type raws struct {
	taints, preferred, inter int64
	pods                     [maxSoft]int64 // by soft constraint; noLabel
	domain                   [maxSoft]int32
}

// findKinds finds the kinds of the groups and of the special nodes, and the
// sources of the latter; not ok where there are too many. It tells whether groups are
// of the same kinds as before.
func (q *Predictor) findKinds() (alike, ok bool) {
	sums, groups := q.sumShared(), len(q.sight.land.nodes)
	for len(q.kinds) < groups {
		q.kinds = append(q.kinds, kind{})
	}
	alike = true
	for g, n := range q.sight.land.nodes {
		r := q.groupRaws(n, sums)
		alike = alike && q.kinds[g].raws == r
		q.kinds[g] = kind{raws: r}
	}
	q.kinds = q.kinds[:groups]
	for i := range q.special {
		x := &q.special[i]
		if !x.feasible {
			continue
		}
		r := q.specialRaws(q.kinds[x.group].raws, x.node)
		at := slices.IndexFunc(q.kinds[groups:], func(k kind) bool { return k.raws == r })
		if at < 0 {
			if at = len(q.kinds) - groups; at == maxKinds {
				return false, false
			}
			q.kinds = append(q.kinds, kind{raws: r})
		}
		x.kind = int32(groups + at)
	}
	q.sowSpecial(groups)
	return alike, true
}

// sumShared counts pods by domain: first those of the inter-pod terms that score,
// then those of soft constraints.
func (q *Predictor) sumShared() int {
	slot, r := len(q.in.Spread.Hard)+len(q.sight.required)+len(q.sight.anti), cycle.Attempt{Model: q.m, Scratch: q.buf, Replacement: q.in}
	for i, t := range q.sight.scored {
		q.buf.CountTerm(slot+i, t)
	}
	for i := range q.soft {
		if !q.soft[i].Hostname {
			r.FilterSlots = slot + len(q.sight.scored) + i
			score.SoftCounts(&r, &q.soft[i])
		}
	}
	return slot
}

// groupRaws are those of a node, as if it had no pods that are counted by node.
func (q *Predictor) groupRaws(n cluster.NodeID, slot int) (r raws) {
	f, weights, b := &q.in.StaticScores, &q.in.Profile.Weights, q.buf
	if weights.TaintToleration > 0 {
		r.taints = f.PreferNoSchedule[n] + f.HintTaint*q.m.Hints.ExtraTaints(n)
	}
	if weights.NodeAffinity > 0 && f.Preferred != nil {
		r.preferred = f.Preferred[n]
	}
	for i, t := range q.sight.scored {
		if x := t.Topology.Domain[n]; x != model.NoDomain {
			r.inter += t.Weight * int64(b.CountsByDomain[slot+i][x])
		}
	}
	slot += len(q.sight.scored)
	for i := range q.soft {
		c := &q.soft[i]
		x := c.Topology.Domain[n]
		if !c.Hostname {
			r.domain[i] = score.DomainOrEmpty(c.Topology, int(n))
		}
		switch {
		case x == model.NoDomain:
			r.pods[i] = sampling.NoLabel
		case !c.Hostname:
			r.pods[i] = int64(b.CountsByDomain[slot+i][x])
		}
	}
	return r
}

// specialRaws adds what is counted by node.
func (q *Predictor) specialRaws(r raws, n cluster.NodeID) raws {
	for i := range q.soft {
		if q.soft[i].Hostname && r.pods[i] != sampling.NoLabel {
			r.pods[i] = int64(q.soft[i].Pods.On(n))
		}
	}
	for _, t := range q.sight.nodeWise {
		if t.Topology.Domain[n] != model.NoDomain {
			r.inter += t.Weight * int64(t.Pods.On(n))
		}
	}
	return r
}

// sowSpecial fills the sources of the special nodes' kinds.
func (q *Predictor) sowSpecial(groups int) {
	for len(q.sources) < len(q.kinds) {
		q.sources = append(q.sources, source{})
	}
	for k := groups; k < len(q.kinds); k++ {
		q.sources[k].empty()
	}
	list := q.cover.order[:0]
	for i := range q.special {
		if q.special[i].feasible {
			list = append(list, int32(i))
		}
	}
	q.cover.order = list
	slices.SortFunc(list, func(a, b int32) int {
		x, y := &q.special[a], &q.special[b]
		return cmp.Or(cmp.Compare(y.fixed, x.fixed), cmp.Compare(x.at, y.at))
	})
	for _, i := range list {
		x := &q.special[i]
		s := &q.sources[x.kind]
		if last := len(s.values) - 1; last < 0 || s.values[last] != x.fixed {
			s.values, s.starts = append(s.values, x.fixed), append(s.starts, int32(len(s.nodes)))
		}
		s.nodes = append(s.nodes, x.at)
	}
	for k := groups; k < len(q.kinds); k++ {
		q.sources[k].starts = append(q.sources[k].starts, int32(len(q.sources[k].nodes)))
	}
}

// weigh finds the raw scores by soft constraints where a window has so many nodes
// and the kinds that are present; false: they are as they were.
func (q *Predictor) weigh(nodes int) bool {
	var weights [maxSoft]float64
	for i := range q.soft {
		domains := nodes
		if !q.soft[i].Hostname {
			domains = q.countDomains(i)
		}
		weights[i] = math.Log(float64(domains + 2))
	}
	if weights == q.parts.weights {
		return false
	}
	q.parts.weights = weights
	for k := range q.kinds {
		x, sum := &q.kinds[k], 0.0
		for i := range q.soft {
			if x.pods[i] >= 0 {
				sum += score.SpreadTerm(int32(x.pods[i]), weights[i], q.soft[i].MaxSkew)
			}
		}
		x.raw = int64(math.Round(sum))
	}
	return true
}

// countDomains counts the domains of a soft constraint that the present kinds are in.
func (q *Predictor) countDomains(constraint int) (count int) {
	seen := cycle.ResizeBool(q.buf.Seen, q.soft[constraint].Topology.Size)
	q.buf.Seen = seen
	for k := range q.kinds {
		if x := &q.kinds[k]; x.present > 0 && !seen[x.domain[constraint]] {
			seen[x.domain[constraint]] = true
			count++
		}
	}
	return count
}

// stretches finds the extremes over the kinds that are present.
func (q *Predictor) stretches() sampling.Ranges {
	x := sampling.Ranges{InterPodMin: math.MaxInt64, InterPodMax: math.MinInt64, SpreadMin: math.MaxInt64}
	for k := range q.kinds {
		y := &q.kinds[k]
		if y.present == 0 {
			continue
		}
		x.Taints, x.Preferred = max(x.Taints, y.taints), max(x.Preferred, y.preferred)
		x.InterPodMin, x.InterPodMax = min(x.InterPodMin, y.inter), max(x.InterPodMax, y.inter)
		x.SpreadMin, x.SpreadMax = min(x.SpreadMin, y.raw), max(x.SpreadMax, y.raw)
	}
	return x
}

// relate finds the relative scores of all kinds between the extremes.
func (q *Predictor) relate(x *sampling.Ranges) {
	weights := &q.in.Profile.Weights
	for k := range q.kinds {
		y := &q.kinds[k]
		sum := weights.TaintToleration * (scheduler.MaxScore - sampling.RelativeScore(y.taints, x.Taints))
		sum += weights.NodeAffinity * sampling.RelativeScore(y.preferred, x.Preferred)
		sum += weights.InterPodAffinity * score.Scale(y.inter, x.InterPodMin, x.InterPodMax, scheduler.MaxScore)
		switch {
		case len(q.soft) == 0:
		case x.SpreadMax == 0:
			sum += weights.PodTopologySpread * scheduler.MaxScore
		default:
			sum += weights.PodTopologySpread * (scheduler.MaxScore * (x.SpreadMax + x.SpreadMin - y.raw) / x.SpreadMax)
		}
		y.score = int32(sum)
	}
}
