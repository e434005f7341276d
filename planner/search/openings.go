package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// An opening is a node, target, on which pod could land if the pod displaced left the node.
type opening struct {
	pod, displaced cluster.PodID
	target         cluster.NodeID
}

// resourceNeed is the need of a pod for one resource, or for one amount that a goal counts. All values are in the
// unit of the resource.
type resourceNeed struct {
	amount int64
	room   func(cluster.NodeID) int64
	ofPod  func(cluster.PodID) int64
	total  func(cluster.NodeID) int64
}

// unblockedNode is a node that could run a pod if another pod left. The field missing is the largest missing amount as
// a share of the node's total.
type unblockedNode struct {
	node    cluster.NodeID
	missing float64
}

// openings returns the openings for p: nodes that lack room for p and on which p would improve a goal. Each opening
// has a pod whose eviction makes enough room. Nodes with the smallest missing share come first.
func (m *displacementSearch) openings(p cluster.PodID) (out []opening) {
	m.tries-- // it checks every node
	m.sim.Snapshot.Work.Spend(len(m.sim.Snapshot.Nodes))
	from := m.sim.Model.Cluster.NodeOf(p)
	places := m.sim.Goals.CheckTargets(p, from)
	if places.LeavingHarms {
		return nil
	}
	could, wants, may := m.sim.Model.CouldRun(p), m.resourceNeeds(p), m.sim.MayTake(p)
	var nodes []unblockedNode
	none := &cluster.Resources{}
	for i := range m.sim.Snapshot.Nodes {
		t := cluster.NodeID(i)
		if t == from || !may[t] || !could(t, none, 0) || !places.Helps(t) || places.HarmsWhoeverLeaves(t) {
			continue
		}
		if lack := largestMissingShare(wants, t); lack > 0 {
			nodes = append(nodes, unblockedNode{t, lack})
		}
	}
	slices.SortFunc(nodes, func(a, b unblockedNode) int {
		return cmp.Or(cmp.Compare(a.missing, b.missing), cmp.Compare(a.node, b.node))
	})
	for _, n := range nodes[:min(len(nodes), maxTargets)] {
		for _, q := range m.displaceable(n.node, p, wants) {
			out = append(out, opening{p, q, n.node})
		}
	}
	return out
}

// resourceNeeds returns the requests of p, and the amounts of p that goals count.
func (m *displacementSearch) resourceNeeds(p cluster.PodID) []resourceNeed {
	var out []resourceNeed
	asks := m.sim.Snapshot.Pods[p].Requests
	for _, name := range asks.Names() {
		if amount := asks.Get(name); amount > 0 {
			out = append(out, resourceNeed{amount,
				func(n cluster.NodeID) int64 {
					return m.sim.Snapshot.Nodes[n].Allocatable.Get(name) - m.sim.Model.Cluster.Requests[n].Get(name)
				},
				func(q cluster.PodID) int64 { return m.sim.Snapshot.Pods[q].Requests.Get(name) },
				func(n cluster.NodeID) int64 { return m.sim.Snapshot.Nodes[n].Allocatable.Get(name) }})
		}
	}
	for i := range m.sim.Goals.Headroom {
		amounts, room := m.sim.Goals.Headroom[i].Amounts, m.sim.Goals.Headroom[i].ByNode
		if amount := amounts.Contribution(p, cluster.NoNode); amount > 0 {
			out = append(out, resourceNeed{amount,
				func(n cluster.NodeID) int64 { return room[n] },
				func(q cluster.PodID) int64 { return amounts.Contribution(q, m.sim.Model.Cluster.NodeOf(q)) },
				amounts.Total})
		}
	}
	return out
}

// largestMissingShare returns the largest amount that the node lacks for the pod, as a share of the node's total. If
// the node has enough room, the result is 0.
func largestMissingShare(wants []resourceNeed, n cluster.NodeID) (most float64) {
	for _, w := range wants {
		if total := w.total(n); total > 0 {
			most = max(most, float64(w.amount-w.room(n))/float64(total))
		}
	}
	return most
}

// minRuntime is the time a pod must have run before the planner displaces the pod for another. Without minRuntime,
// consecutive passes could undo each other's steps forever.
const minRuntime = time.Hour

// runsLongEnough reports whether the pod has run for at least minRuntime. If the start time is unknown, the result is
// false.
func (c *displacementSearch) runsLongEnough(pod cluster.PodID) bool {
	start, known := c.sim.Snapshot.Pods[pod].Started()
	return known && c.problem.Now.Sub(start) >= minRuntime
}

// MayDisplace reports whether pod q may leave to make room for pod p. By default, both must belong to one namespace.
// Otherwise, the owner of p could evict the pods of others: p asks for a step, a swap included, by its own requests.
func (c *Simulation) MayDisplace(q, p cluster.PodID) bool {
	return c.Options.DisplaceAcrossNamespaces || c.Snapshot.Pods[q].Object.Namespace == c.Snapshot.Pods[p].Object.Namespace
}

// displaceable returns at most maxDisplaceable pods on t that may be evicted for p and whose eviction makes enough
// room. The pods are in the order of evictions. Pods that prefer no eviction are left out.
func (m *displacementSearch) displaceable(t cluster.NodeID, p cluster.PodID, wants []resourceNeed) []cluster.PodID {
	var out []candidate
	for _, q := range m.sim.Snapshot.Nodes[t].Pods {
		if m.waves.moved[q] || m.sim.Model.Cluster.NodeOf(q) != t || m.rounds.order.rank(q) > 0 || !m.runsLongEnough(q) || !m.sim.MayDisplace(q, p) {
			continue
		}
		enough, size := true, 0.0
		for _, w := range wants {
			has := w.ofPod(q)
			enough = enough && has >= w.amount-w.room(t)
			if total := w.total(t); total > 0 {
				size = max(size, float64(has)/float64(total))
			}
		}
		if !enough {
			continue
		}
		if _, no := m.account.Refuse(Move{q, MakeRoom, m.strategy}); !no {
			out = append(out, candidate{pod: q, owner: m.sim.Snapshot.Pods[q].Workload, rank: m.rounds.order.rank(q), EvictionOrder: m.rounds.order.orderOf(&m.sim.Snapshot.Pods[q]), size: size})
		}
	}
	m.rounds.order.sortCandidates(out)
	ids := make([]cluster.PodID, 0, maxDisplaceable)
	for _, x := range out[:min(len(out), maxDisplaceable)] {
		ids = append(ids, x.pod)
	}
	return ids
}
