package lowerbound

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// addApartNeed adds the fewest pods that must leave so that no conflict of a PodsApart remains,
// except conflicts of two pods that may not leave, or those that remain because the cluster has too
// few domains. These are part of the residual. addApartNeed skips a goal that shares pods with an
// earlier one, and marks the pods that it uses. These include the pods that stay for this goal, but may leave for
// others.
//
// A plan may end some conflicts only. One eviction ends at most as many conflicts as the pod with the most has, which
// bounds the evictions of the plan.
func (p *proof) addApartNeed(g int, m *goal.ApartMeasure, used []bool, budget *int) {
	wanted := p.start.Goals[g]
	isUsed := func(id cluster.PodID) bool { return used[id] }
	if slices.ContainsFunc(wanted.Pods, isUsed) {
		return
	}
	c := newConflictGraph(p, m)
	if slices.ContainsFunc(c.able, isUsed) {
		return
	}
	for _, id := range slices.Concat(wanted.Pods, c.able) {
		used[id] = true
	}
	left, need := c.fixed, 0
	if crowded, evictions := leastTogether(p, &wanted); crowded > left {
		left, need = crowded, evictions
	} else {
		need = c.fewestLeaving(budget)
	}
	p.full.addGroup(need, c.able)
	if ended := int(m.Excess() - p.result.End.Goals.Excess(g)); ended > 0 {
		if int64(left) < p.result.End.Goals.Excess(g) {
			need = (ended + c.mostConflicts() - 1) / c.mostConflicts()
		}
		p.planned.addGroup(need, c.able)
	}
	if left > 0 {
		p.addResidual(wanted, float64(left)/float64(m.Excess()), float64(left))
	}
}

// conflictGraph holds the conflicts of pods in the same domain. Pods that may not leave are not in able.
type conflictGraph struct {
	able      []cluster.PodID
	neighbors map[cluster.PodID][]cluster.PodID // of pods that may leave, which may leave, too
	forced    map[cluster.PodID]bool            // pods that are in conflict with a pod that may not leave
	fixed     int                               // conflicts of two pods that may not leave
	degree    map[cluster.PodID]int
}

func newConflictGraph(p *proof, m *goal.ApartMeasure) *conflictGraph {
	c := &conflictGraph{neighbors: map[cluster.PodID][]cluster.PodID{}, forced: map[cluster.PodID]bool{}, degree: map[cluster.PodID]int{}}
	may := map[cluster.PodID]bool{}
	mayLeave := func(id cluster.PodID) bool {
		is, known := may[id]
		if !known {
			if is = p.canLeaveForGood(id); is {
				c.able = append(c.able, id)
			}
			may[id] = is
		}
		return is
	}
	m.Together(func(a, b cluster.PodID) {
		c.degree[a]++
		c.degree[b]++
		switch first, second := mayLeave(a), mayLeave(b); {
		case first && second && slices.Contains(c.neighbors[a], b): // the two pods conflict in two topologies
		case first && second:
			c.neighbors[a], c.neighbors[b] = append(c.neighbors[a], b), append(c.neighbors[b], a)
		case first:
			c.forced[a] = true
		case second:
			c.forced[b] = true
		default:
			c.fixed++
		}
	})
	return c
}

func (c *conflictGraph) mostConflicts() int {
	most := 1
	for _, n := range c.degree {
		most = max(most, n)
	}
	return most
}

// fewestLeaving returns a lower bound on the pods that must leave: those in conflict with a pod that may not leave, and
// the smallest vertex cover of the other conflicts. The cover is exact unless the search for it uses up the budget. In
// this case, the bound is the size of a matching: of each of its conflicts, one pod must leave.
func (c *conflictGraph) fewestLeaving(budget *int) int {
	fewest, gone := len(c.forced), map[cluster.PodID]bool{}
	for id := range c.forced {
		gone[id] = true
	}
	for _, connected := range c.components(gone) {
		s := &coverSearch{graph: c, pods: connected, gone: gone, budget: budget}
		least := s.matching()
		if n, exact := s.cover(0, len(connected)); exact {
			least = n
		}
		fewest += least
	}
	return fewest
}

// components returns the sets of pods that conflicts connect, without the pods that are gone.
func (c *conflictGraph) components(gone map[cluster.PodID]bool) (out [][]cluster.PodID) {
	seen := map[cluster.PodID]bool{}
	for _, first := range c.able {
		if seen[first] || gone[first] {
			continue
		}
		seen[first] = true
		connected := []cluster.PodID{first}
		for i := 0; i < len(connected); i++ {
			for _, n := range c.neighbors[connected[i]] {
				if !seen[n] && !gone[n] {
					seen[n] = true
					connected = append(connected, n)
				}
			}
		}
		if len(connected) > 1 {
			out = append(out, connected)
		}
	}
	return out
}

// maxCoverWork limits the search for the smallest vertex covers in one plan. The unit is one visit of a conflict.
const maxCoverWork = 5_000_000

// coverSearch finds the smallest vertex cover by branching on the pod with the most conflicts: either it leaves, or all
// its neighbors do. A branch ends when a matching shows that it cannot be smaller than the best cover.
type coverSearch struct {
	graph  *conflictGraph
	pods   []cluster.PodID // a connected component
	gone   map[cluster.PodID]bool
	budget *int
}

// cover returns the size of the smallest cover below best, or best if there is none. The parameter chosen is the number
// of pods that the branch has chosen. The result is false if the search was cut short.
func (s *coverSearch) cover(chosen, best int) (int, bool) {
	if *s.budget < 0 {
		return best, false
	}
	if chosen+s.matching() >= best {
		return best, true
	}
	pod, neighbors := s.busiest()
	if len(neighbors) == 0 {
		return chosen, true
	}
	first, exact := s.without([]cluster.PodID{pod}, chosen, best)
	if len(neighbors) == 1 || !exact {
		return first, exact // with one neighbor, to remove the pod is as good as to remove the neighbor
	}
	return s.without(neighbors, chosen, first)
}

// without continues the search with the pods gone.
func (s *coverSearch) without(pods []cluster.PodID, chosen, best int) (int, bool) {
	for _, id := range pods {
		s.gone[id] = true
	}
	n, exact := s.cover(chosen+len(pods), best)
	for _, id := range pods {
		delete(s.gone, id)
	}
	return n, exact
}

// busiest returns the pod with the most conflicts, and the other pods of these conflicts.
func (s *coverSearch) busiest() (most cluster.PodID, neighbors []cluster.PodID) {
	for _, id := range s.pods {
		if s.gone[id] {
			continue
		}
		var left []cluster.PodID
		*s.budget -= len(s.graph.neighbors[id])
		for _, n := range s.graph.neighbors[id] {
			if !s.gone[n] {
				left = append(left, n)
			}
		}
		if len(left) > len(neighbors) {
			most, neighbors = id, left
		}
	}
	return most, neighbors
}

// matching returns the size of a set of conflicts without common pods.
func (s *coverSearch) matching() (size int) {
	matched := map[cluster.PodID]bool{}
	for _, id := range s.pods {
		if s.gone[id] || matched[id] {
			continue
		}
		for _, n := range s.graph.neighbors[id] {
			if !s.gone[n] && !matched[n] {
				matched[id], matched[n] = true, true
				size++
				break
			}
		}
	}
	return size
}
