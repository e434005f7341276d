package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// A candidate is a pod whose eviction could improve a goal.
type candidate struct {
	pod   cluster.PodID
	owner cluster.WorkloadID
	// rank orders candidates by annotations and drain requests: -1 is first, 1 is last.
	rank int
	// benefit is the share of each goal's initial excess that the eviction removes, weighted and summed over goals.
	benefit float64
	// stated is the index of a goal that keeps its place in the order of its strategy, and otherwise 0.
	stated int
	cluster.EvictionOrder
	// size sums the pod's requests as shares of the node; goals by load use the measured usage. For group goals, size
	// is 0. If two pods have the same benefit, the search prefers the smaller pod.
	size float64
	// group numbers the sets of candidates whose benefits count as equal.
	group int
	// goal and waits are set for greedy moves only. The move is for the goal, and waits for the next wave.
	goal  int
	waits bool
}

// order puts candidates into the order of evictions.
type order struct {
	problem *Problem
	sim     *Simulation
	account *Account
	// byPod caches, by pod, the values of orderOf that known marks.
	byPod []cluster.EvictionOrder
	known []bool
	// localEndpoints caches the results of lastLocalEndpoint by pod. serviceBuffer is for findLocalEndpoint.
	localEndpoints []localEndpoint
	serviceBuffer  []cluster.ServiceID
}

// equalBenefits is the share of the best benefit that a candidate must exceed to count as equal to it.
const equalBenefits = 0.9

// sortCandidates puts the candidates into the order of evictions; docs/reference/report.md describes it.
//
// Candidates count as equal if their benefit differs by less than 10 % from that of the best candidate that is left. A
// comparison of two candidates alone could not do that: 100 would equal 95, and 95 equal 90, but 100 not equal 90. The
// best candidate that is left heads each group, so the groups divide the list, and the order is total.
func (c *order) sortCandidates(list []candidate) {
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.benefit, a.benefit), c.compareEqual(&a, &b))
	})
	for from, group := 0, 0; from < len(list); group++ {
		best, until := list[from], from
		for until < len(list) && list[until].rank == best.rank &&
			(list[until].benefit == best.benefit || list[until].benefit > equalBenefits*best.benefit) {
			list[until].group = group
			until++
		}
		equal := list[from:until]
		if equal[len(equal)-1].benefit != best.benefit {
			slices.SortFunc(equal, func(a, b candidate) int { return c.compareEqual(&a, &b) })
		}
		orderByDeletionCost(equal)
		from = until
	}
}

// compareEqual compares candidates whose benefits count as equal. What comes after the age only makes the order total:
// the larger benefit saves an eviction, a small pod fits on more nodes, and a young pod loses less cached data.
func (c *order) compareEqual(a, b *candidate) int {
	if by := cmp.Or(cmp.Compare(a.stated, b.stated), a.Compare(b.EvictionOrder), cmp.Compare(b.benefit, a.benefit), cmp.Compare(a.size, b.size)); by != 0 {
		return by
	}
	startA, _ := c.sim.Snapshot.Pods[a.pod].Started()
	startB, _ := c.sim.Snapshot.Pods[b.pod].Started()
	if startA.IsZero() != startB.IsZero() { // it has not started yet
		return cmp.Compare(startA.Unix(), startB.Unix())
	}
	return cmp.Or(startB.Compare(startA), cmp.Compare(a.pod, b.pod))
}

// orderByDeletionCost applies the deletion costs to a group of candidates.
func orderByDeletionCost(equal []candidate) {
	for from := 0; from < len(equal); {
		until := from + 1
		for until < len(equal) && equal[until].stated == equal[from].stated {
			until++
		}
		cluster.OrderByDeletionCost(equal[from:until], func(x *candidate) (cluster.WorkloadID, cluster.EvictionOrder) { return x.owner, x.EvictionOrder })
		from = until
	}
}

// orderOf returns the EvictionOrder of a pod and caches it.
func (c *order) orderOf(p *cluster.Pod) cluster.EvictionOrder {
	if c.byPod == nil {
		c.byPod, c.known = make([]cluster.EvictionOrder, len(c.sim.Snapshot.Pods)), make([]bool, len(c.sim.Snapshot.Pods))
	}
	if !c.known[p.ID] {
		c.byPod[p.ID], c.known[p.ID] = cluster.EvictionOrderOf(p, c.problem.Now), true
	}
	return c.byPod[p.ID]
}

// standsFor reports whether a candidate may join a wave that has no room for an earlier one. The two may differ only in
// what comes after the QoS class. Otherwise, a limit could leave room for the later one only.
func (a *candidate) standsFor(earlier *candidate) bool {
	return a.group == earlier.group && a.benefit >= earlier.benefit && a.stated == earlier.stated && a.Before(earlier.EvictionOrder) == 0 &&
		a.QoS == earlier.QoS && (a.owner != earlier.owner || a.owner == cluster.NoWorkload || a.DeletionCost == earlier.DeletionCost)
}
