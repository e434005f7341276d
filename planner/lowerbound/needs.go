package lowerbound

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// addGroupNeeds adds the fewest moves of each unmet group to the bound. addGroupNeeds skips a group that shares pods
// with an earlier one, because one eviction can improve both. If too few pods can change domain, addGroupNeeds adds
// the remaining excess to the residual. One eviction lowers the excess of a group by at most one move. This also
// limits plans that meet only part of the goal.
//
// addGroupNeeds skips a group that must be spread if its total may change: a pod of its workloads is Pending or
// terminating, or a pod can enter or leave the counted domains.
func (p *proof) addGroupNeeds() {
	used, whole := make([]bool, len(p.result.Snapshot.Pods)), workloadsComplete{}
	budget := maxCoverWork
	for g := range p.result.End.Goals.Goals {
		if p.result.End.Goals.Goals[g].Constraint || p.start.Excess(g) == 0 {
			continue
		}
		if p.result.Snapshot.Work.Spend(1 + len(p.result.End.Goals.Goals[g].Pods)) {
			return
		}
		switch m := p.start.Measures[g].(type) {
		case *goal.SkewMeasure:
			p.addSkewNeed(g, m, used, whole)
		case *goal.CountMeasure:
			p.addCountNeeds(g, m, used)
		case *goal.ApartMeasure:
			p.addApartNeed(g, m, used, &budget)
		}
	}
}

// addSkewNeed adds the need of one group that must be spread, and marks its pods as used.
func (p *proof) addSkewNeed(g int, k *goal.SkewMeasure, used []bool, whole workloadsComplete) {
	wanted, left := p.result.End.Goals.Goals[g], p.result.End.Goals.Excess(g)
	if !p.groupIsFixed(wanted, used, whole) {
		return
	}
	limit, moves, able := k.Limit, k.Moves, movablePods{}
	who := p.full.required.count > 0 || !p.full.sumsOnly || !p.planned.sumsOnly && left < k.Excess()
	if who || !p.firstMovableSuffice(k, wanted) {
		var open bool
		if able, open = p.findMovablePods(k, wanted); open {
			return
		}
		limit, moves = p.reachableSkew(k, able)
	}
	for _, id := range wanted.Pods {
		used[id] = true
	}
	movers := able.pods
	if limit == k.Limit {
		movers = able.podsThatMustGive(k)
	}
	p.full.addGroup(moves, movers)
	if left > 0 {
		moves = max(0, int(k.Excess()-left)) // moves for other strategies may worsen a goal of a soft one
	}
	p.planned.addGroup(moves, able.podsThatMustGive(k))
	if was := goal.Spread(k.Counts) - k.Limit; was > 0 {
		p.addResidual(wanted, float64(limit-k.Limit)/float64(was), float64(limit-k.Limit))
	}
}

// workloadsComplete caches, by workload, whether all its pods are bound and not terminating.
type workloadsComplete map[cluster.WorkloadID]bool

func (x workloadsComplete) isComplete(s *cluster.Snapshot, w cluster.WorkloadID) bool {
	whole, known := x[w]
	if !known {
		whole = !slices.ContainsFunc(s.Workloads[w].Pods, func(id cluster.PodID) bool {
			return s.Pods[id].Node == cluster.NoNode || s.Pods[id].Terminating
		})
		x[w] = whole
	}
	return whole
}

func (p *proof) groupIsFixed(g plan.Goal, used []bool, whole workloadsComplete) bool {
	last := cluster.NoWorkload // the workload of the pod before; usually all pods have the same one
	for _, id := range g.Pods {
		w := p.result.Snapshot.Pods[id].Workload
		if used[id] || w != cluster.NoWorkload && w != last && !whole.isComplete(p.result.Snapshot, w) {
			return false
		}
		last = w
	}
	return true
}

// movablePods holds the pods of a group that can change domain, and the number of them in each domain.
type movablePods struct {
	pods    []cluster.PodID
	domains []int // the domain of each pod in pods
	leaving []int // by domain
}

func (m *movablePods) add(pod cluster.PodID, domain int) {
	m.pods, m.domains = append(m.pods, pod), append(m.domains, domain)
	m.leaving[domain]++
}

// findMovablePods finds the pods of a group that can change domain. The result open is true if a pod can enter or
// leave the counted domains. In this case, m is incomplete.
func (p *proof) findMovablePods(k *goal.SkewMeasure, g plan.Goal) (m movablePods, open bool) {
	nodes := p.reach.byDomain(k)
	m.leaving = make([]int, len(k.Counts))
	for _, id := range g.Pods {
		from, counted := k.DomainIndex(p.result.Snapshot.Pods[id].Node)
		if p.result.Snapshot.Pods[id].Terminal || !p.reach.mayLeave(id) {
			continue
		}
		if !counted || p.reach.needNoPlace[id] || p.reach.canRunOnAny(id, nodes.outside) {
			return m, true
		}
		if p.canChangeDomain(nodes, id, from) {
			m.add(id, from)
		}
	}
	return m, false
}

// firstMovableSuffice reports whether the first few movable pods suffice to meet the group's limit in k.Moves moves.
// If the first pods suffice, more movable pods do not change the bound. firstMovableSuffice returns false if a pod
// can enter or leave the counted domains.
func (p *proof) firstMovableSuffice(k *goal.SkewMeasure, g plan.Goal) bool {
	nodes := p.reach.byDomain(k)
	if len(nodes.outside) > 0 || slices.ContainsFunc(g.Pods, func(id cluster.PodID) bool {
		_, counted := k.DomainIndex(p.result.Snapshot.Pods[id].Node)
		return !counted || p.reach.needNoPlace[id]
	}) {
		return false
	}
	first, least := movablePods{leaving: make([]int, len(k.Counts))}, slices.Min(k.Counts)
	for _, id := range g.Pods {
		from, _ := k.DomainIndex(p.result.Snapshot.Pods[id].Node)
		if first.leaving[from] >= k.Counts[from]-least || p.result.Snapshot.Pods[id].Terminal || !p.reach.mayLeave(id) ||
			!p.canChangeDomain(nodes, id, from) {
			continue
		}
		if first.add(id, from); len(first.pods) < k.Moves {
			continue
		}
		if _, suffice := reachableDomains(k, first.leaving, p.canEnter(k, first)); suffice {
			return true
		}
	}
	return false
}

// canChangeDomain reports whether the pod can move from its domain to another one.
func (p *proof) canChangeDomain(nodes *domainNodes, id cluster.PodID, from int) bool {
	for z := range nodes.in {
		if z != from && p.reach.canEnterDomain(nodes, z, id) {
			return true
		}
	}
	return false
}

// reachableSkew returns the least skew, at least the limit, that moves of the pods can reach, and
// the fewest moves for it.
func (p *proof) reachableSkew(k *goal.SkewMeasure, m movablePods) (limit, moves int) {
	arriving, suffice := reachableDomains(k, m.leaving, p.canEnter(k, m))
	if suffice {
		return k.Limit, k.Moves
	}
	return k.ReachableSkew(m.leaving, arriving)
}

// canEnter returns a function that counts the pods that can enter a domain.
func (p *proof) canEnter(k *goal.SkewMeasure, m movablePods) func(domain int) int {
	nodes := p.reach.byDomain(k)
	return func(domain int) (n int) {
		for i, id := range m.pods {
			if m.domains[i] != domain && p.reach.canEnterDomain(nodes, domain, id) {
				n++
			}
		}
		return n
	}
}

// reachableDomains returns how many pods can enter each domain. It looks at the emptiest domains
// first, and stops as soon as the domains so far suffice to meet the limit in k.Moves moves. No
// further domain makes this number smaller. So a group of a few pods on thousands of nodes costs a
// few domains.
func reachableDomains(k *goal.SkewMeasure, leaving []int, canEnter func(domain int) int) (arriving []int, suffice bool) {
	order := make([]int, len(k.Counts))
	for z := range order {
		order[z] = z
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.Counts[a], k.Counts[b]) })
	arriving = make([]int, len(k.Counts))
	for i, z := range order {
		arriving[z] = canEnter(z)
		if seen := i + 1; seen&(seen-1) == 0 || seen == len(order) { // the check takes as long as a few domains
			if n, ok := goal.FewestMovesWithDomainLimits(k.Counts, leaving, arriving, k.Limit); ok && n == k.Moves {
				return arriving, true
			}
		}
	}
	return arriving, false
}

// podsThatMustGive returns the pods in domains with more than m1 pods. If a plan lowers the fewest moves F of the
// group by n, the plan moves at least n of these pods. The threshold m1 is the least count m, from the smallest
// domain up, for which fewer than F pods exceed m + limit.
//
// Proof: let c be the counts before the plan and c' the counts after it. From c', the fewest further moves meet the
// limit and lead to c*. From c to c*, domains above m1 lose at least F pods:
//   - If the smallest count in c* is below m1, there are at least F excess pods. All of them are
//     in domains above m1.
//   - Otherwise every domain at or below m1 keeps its pods or gains some. At least F pods
//     move, so domains above m1 lose them.
//
// F(c') of these pods move after the plan, so at least F - F(c') move in the plan.
func (m movablePods) podsThatMustGive(k *goal.SkewMeasure) (out []cluster.PodID) {
	m1 := k.GiverThreshold()
	for i, id := range m.pods {
		if k.Counts[m.domains[i]] > m1 {
			out = append(out, id)
		}
	}
	return out
}

// addNodeNeeds adds the largest need of any goal for each node: the fewest pods that may leave and cover its excess. It
// adds the excess that evictions cannot remove to the residual, as a share of the goal's excess.
func (p *proof) addNodeNeeds() {
	p.checkPodsOfUnmetNodes()
	for n := range p.result.Snapshot.Nodes {
		if p.result.Snapshot.Work.Spend(1 + len(p.result.Snapshot.Nodes[n].Pods)) {
			return
		}
		most, planned := 0, 0
		var hot []int32
		for _, g := range p.start.ByNode[n] {
			b, ok := p.start.Measures[g].(*goal.NodeMeasure)
			if !ok || p.start.Goals[g].Constraint || b.Excess() == 0 {
				continue
			}
			hot = append(hot, g)
			pods := p.podsBySize(b)
			all, rest := p.coverLargestFirst(pods, p.full, b.Excess())
			some, _ := p.coverLargestFirst(pods, p.planned, b.Excess()-p.result.End.Goals.Excess(int(g)))
			most, planned = max(most, all), max(planned, some)
			p.addResidual(p.start.Goals[g], float64(rest)/float64(b.Excess()), float64(rest)/float64(b.Total))
		}
		if most == 0 && planned == 0 {
			continue
		}
		p.full.addNode(nodeNeed{cluster.NodeID(n), most, func() (out []amountNeed) {
			for _, g := range hot {
				pods, sum := p.podsThatCanLeave(g)
				out = append(out, amountNeed{min(p.start.Excess(int(g)), sum), pods})
			}
			return out
		}})
		p.planned.addNode(nodeNeed{cluster.NodeID(n), planned, func() (out []amountNeed) {
			for _, g := range hot {
				if gone := p.start.Excess(int(g)) - p.result.End.Goals.Excess(int(g)); gone > 0 {
					pods, _ := p.podsThatCanLeave(g)
					out = append(out, amountNeed{gone, pods})
				}
			}
			return out
		}})
	}
}

// checkPodsOfUnmetNodes finds which pods can leave the nodes of unmet goals. It does so in the order of pods: neighbors
// share most of what the guards read, which takes half the time of the order of nodes. If there are few such pods, it
// does nothing.
func (p *proof) checkPodsOfUnmetNodes() {
	s, unmet, pods := p.result.Snapshot, make([]bool, len(p.result.Snapshot.Nodes)), 0
	for g := range p.start.Goals {
		of := &p.start.Goals[g]
		if of.Kind == plan.NodeBelow && !of.Constraint && !unmet[of.Node] && p.start.Excess(g) > 0 {
			unmet[of.Node] = true
			pods += len(s.Nodes[of.Node].Pods)
		}
	}
	if s.Work.Stopped() || pods < len(s.Pods)/4 {
		return
	}
	for i := range s.Pods {
		if n := s.Pods[i].Node; n != cluster.NoNode && unmet[n] {
			p.canLeaveForGood(cluster.PodID(i))
		}
	}
}

// podsThatCanLeave returns the pods whose eviction can improve node goal g, and the sum of their sizes.
func (p *proof) podsThatCanLeave(g int32) (pods []podSize, sum int64) {
	for _, x := range p.podsBySize(p.start.Measures[g].(*goal.NodeMeasure)) {
		if p.canLeaveForGood(x.id) {
			pods = append(pods, x)
			sum += x.size
		}
	}
	return pods, sum
}

// coverLargestFirst takes the largest pods that may leave until they and the required pods of the need cover an amount.
// The results are the number of these pods without the required ones, and the uncovered amount. Eligibility is checked
// only for the pods needed.
func (p *proof) coverLargestFirst(pods []podSize, d *evictionNeed, amount int64) (count int, rest int64) {
	rest = amount
	if d.required.count > 0 {
		for _, x := range pods {
			if d.required.has(x.id) && p.canLeaveForGood(x.id) {
				rest -= x.size
			}
		}
	}
	for _, x := range pods {
		if rest <= 0 {
			break
		}
		if d.required.has(x.id) || !p.canLeaveForGood(x.id) {
			continue
		}
		rest -= x.size
		count++
	}
	return count, max(0, rest)
}
