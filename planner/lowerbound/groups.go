package lowerbound

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// groups adds the fewest moves of disjoint groups and counts as residual
// what too few pods that could change domain leave. One eviction brings a group nearer by one
// move at most, which bounds a plan that goes part of the way. It claims nothing
// for a group whose total may change: a pod of its workloads is Pending or
// terminating, or may come in from where the goal does not count.
func (p *proof) groups() {
	used, whole := make([]bool, len(p.Snapshot.Pods)), complete{}
	for g, wanted := range p.Goals.Goals {
		k, ok := p.start.Measures[g].(*goal.SkewMeasure)
		if !ok || wanted.Constraint || k.Excess() == 0 || !p.groupIsFixed(wanted, used, whole) {
			continue
		}
		left := p.Goals.Excess(g)
		limit, moves, able := k.Limit, k.Moves, movablePods{}
		if who := !p.full.alone || !p.planned.alone && left < k.Excess(); who || !p.firstMovableSuffice(k, wanted) {
			var open bool
			if able, open = p.movable(k, wanted); open {
				continue
			}
			limit, moves = k.ReachableSkew(able.leaving, able.arriving)
		}
		for _, id := range wanted.Pods {
			used[id] = true
		}
		movers := able.pods
		if limit == k.Limit {
			movers = able.givers(k)
		}
		p.full.group(moves, movers)
		if left > 0 {
			moves = int(k.Excess() - left)
		}
		p.planned.group(moves, able.givers(k))
		if was := goal.Spread(k.Counts) - k.Limit; was > 0 {
			p.addResidual(wanted, float64(limit-k.Limit)/float64(was), float64(limit-k.Limit))
		}
	}
}

// complete says of workloads whether all their pods are bound and stay.
type complete map[cluster.WorkloadID]bool

func (x complete) of(s *cluster.Snapshot, w cluster.WorkloadID) bool {
	whole, known := x[w]
	if !known {
		whole = !slices.ContainsFunc(s.Workloads[w].Pods, func(id cluster.PodID) bool {
			return s.Pods[id].Node == cluster.NoNode || s.Pods[id].Terminating
		})
		x[w] = whole
	}
	return whole
}

func (p *proof) groupIsFixed(g plan.Goal, used []bool, whole complete) bool {
	last := cluster.NoWorkload // nearly always that of all
	for _, id := range g.Pods {
		w := p.Snapshot.Pods[id].Workload
		if used[id] || w != cluster.NoWorkload && w != last && !whole.of(p.Snapshot, w) {
			return false
		}
		last = w
	}
	return true
}

// movablePods are the pods of a group that could change domain, and how many could leave
// and enter each.
type movablePods struct {
	pods              []cluster.PodID
	domains           []int // of pods
	leaving, arriving []int
}

// movable finds the pods of a group that could change domain. open says that one could
// come from where the goal does not count, or go there.
func (p *proof) movable(k *goal.SkewMeasure, g plan.Goal) (m movablePods, open bool) {
	nodes := p.reach.byDomain(k)
	m.leaving, m.arriving = make([]int, len(k.Counts)), make([]int, len(k.Counts))
	for _, id := range g.Pods {
		from, counted := k.DomainIndex(p.Snapshot.Pods[id].Node)
		if p.Snapshot.Pods[id].Terminal || !p.reach.mayLeave(id) {
			continue
		}
		if !counted || p.reach.anyOf(id, nodes.outside) {
			return m, true
		}
		if p.countDomains(nodes, id, from, m.arriving) {
			m.pods, m.domains = append(m.pods, id), append(m.domains, from)
			m.leaving[from]++
		}
	}
	return m, false
}

// firstMovableSuffice reports whether the first few pods that could change domain suffice to meet
// the group's limit with the fewest moves that there are. More of them would change
// nothing, so that where nobody asks which they are the others need not be looked at.
// It says so only where no pod could come from where the goal does not count, or go
// there.
func (p *proof) firstMovableSuffice(k *goal.SkewMeasure, g plan.Goal) bool {
	nodes := p.reach.byDomain(k)
	if len(nodes.outside) > 0 || slices.ContainsFunc(g.Pods, func(id cluster.PodID) bool {
		_, counted := k.DomainIndex(p.Snapshot.Pods[id].Node)
		return !counted
	}) {
		return false
	}
	leaving, arriving, least, found := make([]int, len(k.Counts)), make([]int, len(k.Counts)), slices.Min(k.Counts), 0
	for _, id := range g.Pods {
		from, _ := k.DomainIndex(p.Snapshot.Pods[id].Node)
		if leaving[from] >= k.Counts[from]-least || p.Snapshot.Pods[id].Terminal || !p.reach.mayLeave(id) || !p.countDomains(nodes, id, from, arriving) {
			continue
		}
		leaving[from]++
		if found++; found < k.Moves {
			continue
		}
		if n, ok := goal.FewestMovesWithin(k.Counts, leaving, arriving, k.Limit); ok && n == k.Moves {
			return true
		}
	}
	return false
}

// countDomains counts the domains that the pod could move to, and reports whether there
// are any.
func (p *proof) countDomains(nodes *byDomain, id cluster.PodID, from int, arriving []int) (any bool) {
	for z := range nodes.in {
		if z != from && p.reach.enters(nodes, z, id) {
			arriving[z]++
			any = true
		}
	}
	return any
}

// givers are the pods of which any plan must move as many as it brings the group
// nearer: those in domains above m1, the least count to which the emptiest can rise
// so that fewer than F pods stand above it and the limit, F being the fewest moves.
//
// Let c' be the counts after a plan, and c* those where the limit is met by the
// fewest further moves. From c to c*, domains above m1 give at least F pods: where c*
// has its emptiest below m1, at least F pods stand too high, all of them above m1; and
// else the others keep what they have, since no domain may fall below the emptiest,
// and F pods must arrive. F(c') of them go after the plan, so F - F(c') go in it.
func (m movablePods) givers(k *goal.SkewMeasure) (out []cluster.PodID) {
	m1 := k.GiverThreshold()
	for i, id := range m.pods {
		if k.Counts[m.domains[i]] > m1 {
			out = append(out, id)
		}
	}
	return out
}
