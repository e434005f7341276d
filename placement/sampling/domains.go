package sampling

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"math"
	"slices"
)

// steady reports whether each window has the same domains of a soft constraint,
// and then says how many: none of them is away for longer than a window.
func (s *Sampler) steady(c int) bool {
	w, column, rule := &s.window, s.kinds.column[softColumn+c], &s.r.Replacement.Spread.Soft[c]
	if rule.Hostname {
		w.domains[c] = int32(s.size)
		if !s.r.Replacement.Spread.RequireAllKeys || !slices.Contains(column, skipped) {
			return true
		}
	} else {
		w.counts[c] = Resize(w.counts[c], rule.Topology.Size)
		if w.domains[c] = s.alwaysThere(c); w.domains[c] > 0 {
			return true
		}
	}
	clear(w.counts[c])
	w.domains[c] = 0
	return false
}

// alwaysThere is the number of domains if each is in every window; else 0.
func (s *Sampler) alwaysThere(c int) (domains int32) {
	last, column, topo := s.window.counts[c], s.kinds.column[softColumn+c], s.r.Replacement.Spread.Soft[c].Topology
	clear(last)
	n := len(s.nodes)
	for p := range n + s.size { // as far as the last window reaches
		i := p
		if i >= n {
			i -= n
		}
		if column[i] == skipped {
			continue
		}
		x := score.DomainOrEmpty(topo, int(s.nodes[i]))
		if last[x] == 0 {
			if domains++; p >= s.size {
				return 0
			}
		} else if p-int(last[x])+1 > s.size {
			return 0
		}
		last[x] = int32(p) + 1
	}
	return domains
}

// countDomains counts the domains that the scored nodes are in; for the host
// name, those nodes.
func (s *Sampler) countDomains(i int, by int32) {
	w, k := &s.window, &s.kinds
	soft := s.r.Replacement.Spread.Soft
	for _, c := range w.counted {
		if k.column[softColumn+c][i] == skipped {
			continue
		}
		if !soft[c].Hostname {
			count := &w.counts[c][score.DomainOrEmpty(soft[c].Topology, int(s.nodes[i]))]
			if *count += by; by > 0 && *count > 1 || by < 0 && *count > 0 {
				continue
			}
		}
		w.domains[c] += by
	}
}

// weigh finds the raw scores of all kinds by soft constraints, with the weights
// of the window's domains.
func (s *Sampler) weigh() {
	w := &s.window
	copy(w.weighed, w.domains)
	w.unsure, w.search, w.fresh = true, true, false
	w.version++
	w.weights = cycle.ResizeFloat64(w.weights, len(w.domains))
	for c, domains := range w.domains {
		w.weights[c] = math.Log(float64(domains + 2))
	}
	for kind := range w.rawSpread {
		w.rawSpread[kind] = s.raw(kind)
	}
}

// raw is a kind's raw score by soft constraints.
func (s *Sampler) raw(kind int) int64 {
	k, soft, sum := &s.kinds, s.r.Replacement.Spread.Soft, 0.0
	for c := range soft {
		if !k.on[softColumn+c] {
			continue
		}
		if pods := k.column[softColumn+c][k.first[kind]]; pods >= 0 {
			sum += score.SpreadTerm(int32(pods), s.window.weights[c], soft[c].MaxSkew)
		}
	}
	return int64(math.Round(sum))
}
