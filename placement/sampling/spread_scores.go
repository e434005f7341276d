package sampling

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// hasConstantDomains reports whether a soft constraint has the same topology domains in every
// window. Then hasConstantDomains also stores the number of domains.
func (s *windowScorer) hasConstantDomains(c int) bool {
	w, column, rule := &s.window, s.groups.column[spreadColumn+c], &s.attempt.Replacement.Spread.Soft[c]
	if rule.Hostname {
		w.domainCount[c] = int32(s.sampleSize)
		if !s.attempt.Replacement.Spread.RequireAllKeys || !slices.Contains(column, notScored) {
			return true
		}
	} else {
		w.nodesByDomain[c] = cycle.ResizeSlice(w.nodesByDomain[c], rule.Topology.Size)
		if w.domainCount[c] = s.countConstantDomains(c); w.domainCount[c] > 0 {
			return true
		}
	}
	clear(w.nodesByDomain[c])
	w.domainCount[c] = 0
	return false
}

// countConstantDomains returns the number of domains if every window contains all of them, else 0.
func (s *windowScorer) countConstantDomains(c int) (domains int32) {
	last, column, topo := s.window.nodesByDomain[c], s.groups.column[spreadColumn+c], s.attempt.Replacement.Spread.Soft[c].Topology
	clear(last)
	n := len(s.nodes)
	for p := range n + s.sampleSize { // to the end of the last window
		i := p
		if i >= n {
			i -= n
		}
		if column[i] == notScored {
			continue
		}
		x := score.DomainOrEmpty(topo, int(s.nodes[i]))
		if last[x] == 0 {
			if domains++; p >= s.sampleSize {
				return 0
			}
		} else if p-int(last[x])+1 > s.sampleSize {
			return 0
		}
		last[x] = int32(p) + 1
	}
	return domains
}

// updateDomainCounts adds a node to the domain counts of the window (by = 1) or removes it (by =
// -1). For the host name, each node is a domain.
func (s *windowScorer) updateDomainCounts(i int, by int32) {
	w, k := &s.window, &s.groups
	soft := s.attempt.Replacement.Spread.Soft
	for _, c := range w.countedConstraints {
		if k.column[spreadColumn+c][i] == notScored {
			continue
		}
		if !soft[c].Hostname {
			count := &w.nodesByDomain[c][score.DomainOrEmpty(soft[c].Topology, int(s.nodes[i]))]
			if *count += by; by > 0 && *count > 1 || by < 0 && *count > 0 {
				continue
			}
		}
		w.domainCount[c] += by
	}
}

// updateSpreadScores recomputes the raw spread scores of all groups for the domains of the window.
func (s *windowScorer) updateSpreadScores() {
	w := &s.window
	copy(w.weightedDomains, w.domainCount)
	w.rangesStale, w.bestUnknown, w.spreadScoresUnknown = true, true, false
	w.rangesVersion++
	w.spreadWeights = cycle.ResizeZeroed(w.spreadWeights, len(w.domainCount))
	for c, domains := range w.domainCount {
		w.spreadWeights[c] = math.Log(float64(domains + 2))
	}
	for kind := range w.rawSpread {
		w.rawSpread[kind] = s.rawSpreadScore(kind)
	}
}

func (s *windowScorer) rawSpreadScore(kind int) int64 {
	k, soft, sum := &s.groups, s.attempt.Replacement.Spread.Soft, 0.0
	for c := range soft {
		if !k.hasColumn[spreadColumn+c] {
			continue
		}
		if pods := k.column[spreadColumn+c][k.firstNode[kind]]; pods >= 0 {
			sum += score.SpreadTerm(int32(pods), s.window.spreadWeights[c], soft[c].MaxSkew)
		}
	}
	return int64(math.Round(sum))
}
