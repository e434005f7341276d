package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// opening is a place that p could have if q left it.
type opening struct {
	pod, displaced cluster.PodID
	target         cluster.NodeID
}

// resourceNeed is what p takes of something, and what of it is left on each node.
type resourceNeed struct {
	amount int64
	room   func(cluster.NodeID) int64
	ofPod  func(cluster.PodID) int64
	total  func(cluster.NodeID) int64
}

// openedNode is a node that p could run on, with what it lacks, as a share of the node.
type openedNode struct {
	node    cluster.NodeID
	missing float64
}

// openings are the places to which p could go if one pod made room: on nodes that could
// hold it and would serve a goal, those first that lack least.
func (m *displacementSearch) openings(p cluster.PodID) (out []opening) {
	m.tries-- // it looks at every node
	from := m.Model.NodeOf(p)
	places := m.Goals.CheckTargets(p, from)
	if places.LeavingHarms {
		return nil
	}
	could, wants := m.Model.CouldRun(p), m.resourceNeeds(p)
	var nodes []openedNode
	for i := range m.Snapshot.Nodes {
		t := cluster.NodeID(i)
		if t == from || !m.Ready[t] || !could(t, &cluster.Resources{}, 0) || !places.Helps(t) || places.HarmsGroup(t) {
			continue
		}
		if lack := largestLack(wants, t); lack > 0 {
			nodes = append(nodes, openedNode{t, lack})
		}
	}
	slices.SortFunc(nodes, func(a, b openedNode) int {
		return cmp.Or(cmp.Compare(a.missing, b.missing), cmp.Compare(a.node, b.node))
	})
	for _, n := range nodes[:min(len(nodes), maxTargets)] {
		for _, q := range m.displaceable(n.node, wants) {
			out = append(out, opening{p, q, n.node})
		}
	}
	return out
}

// resourceNeeds are what p requests, and what goals count of it.
func (m *displacementSearch) resourceNeeds(p cluster.PodID) []resourceNeed {
	var out []resourceNeed
	asks := m.Snapshot.Pods[p].Requests
	for _, name := range asks.Names() {
		if amount := asks.Get(name); amount > 0 {
			out = append(out, resourceNeed{amount,
				func(n cluster.NodeID) int64 {
					return m.Snapshot.Nodes[n].Allocatable.Get(name) - m.Model.Requested(n).Get(name)
				},
				func(q cluster.PodID) int64 { return m.Snapshot.Pods[q].Requests.Get(name) },
				func(n cluster.NodeID) int64 { return m.Snapshot.Nodes[n].Allocatable.Get(name) }})
		}
	}
	for i := range m.Goals.Headroom {
		amounts, room := m.Goals.Headroom[i].Amounts, m.Goals.Headroom[i].ByNode
		if amount := amounts.Contribution(p, cluster.NoNode); amount > 0 {
			out = append(out, resourceNeed{amount,
				func(n cluster.NodeID) int64 { return room[n] },
				func(q cluster.PodID) int64 { return amounts.Contribution(q, m.Model.NodeOf(q)) },
				amounts.Total})
		}
	}
	return out
}

// largestLack is the largest share of a node that is missing for p, of all that it wants; at
// most 0 where nothing is.
func largestLack(wants []resourceNeed, n cluster.NodeID) (most float64) {
	for _, w := range wants {
		if total := w.total(n); total > 0 {
			most = max(most, float64(w.amount-w.room(n))/float64(total))
		}
	}
	return most
}

// minRuntime is how long a pod must have run before it makes room for another. What this
// pass moves, the next one does not move again for the sake of others, so that passes do
// not go on for ever by steps that undo one another's landings.
const minRuntime = time.Hour

// runsLongEnough reports whether a pod has run for long enough; where nobody knows, it has not.
func (c *Search) runsLongEnough(pod cluster.PodID) bool {
	start := c.Snapshot.Pods[pod].Object.Status.StartTime
	return start != nil && c.Now.Sub(start.Time) >= minRuntime
}

// displaceable are pods that would leave enough behind, and may leave: the least disruptive
// first, and of those the smallest.
func (m *displacementSearch) displaceable(t cluster.NodeID, wants []resourceNeed) []cluster.PodID {
	var out []candidate
	for _, q := range m.Snapshot.Nodes[t].Pods {
		if m.Moved[q] || m.Model.NodeOf(q) != t || m.Eligibility.Rank(q) > 0 || !m.runsLongEnough(q) {
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
		if _, no := m.Refuse(q); !no {
			p := &m.Snapshot.Pods[q]
			out = append(out, candidate{pod: q, rank: m.Eligibility.Rank(q), size: size, cost: eligibility.EvictionCost(p)})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost), cmp.Compare(a.size, b.size), cmp.Compare(a.pod, b.pod))
	})
	ids := make([]cluster.PodID, 0, maxDisplaceable)
	for _, x := range out[:min(len(out), maxDisplaceable)] {
		ids = append(ids, x.pod)
	}
	return ids
}
