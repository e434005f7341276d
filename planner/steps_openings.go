package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// opening is a place that p could have if q left it.
type opening struct {
	p, q cluster.PodID
	t    cluster.NodeID
}

// want is what p takes of something, and what of it is left on each node.
type want struct {
	amount int64
	room   func(cluster.NodeID) int64
	of     func(cluster.PodID) int64
	total  func(cluster.NodeID) int64
}

// opened is a node that p could run on, with what it lacks, as a share of the node.
type opened struct {
	t    cluster.NodeID
	lack float64
}

// openings are the places to which p could go if one pod made room: on nodes that could
// hold it and would serve a goal, those first that lack least.
func (m *makers) openings(p cluster.PodID) (out []opening) {
	m.tries-- // it looks at every node
	from := m.world.NodeOf(p)
	places := m.goals.arrivals(p, from)
	if places.worse {
		return nil
	}
	could, wants := m.world.CouldRun(p), m.wants(p)
	var nodes []opened
	for i := range m.s.Nodes {
		t := cluster.NodeID(i)
		if t == from || !m.ready[t] || !could(t, &cluster.Resources{}, 0) || !places.helps(t) || places.unwanted(t) {
			continue
		}
		if lack := lacks(wants, t); lack > 0 {
			nodes = append(nodes, opened{t, lack})
		}
	}
	slices.SortFunc(nodes, func(a, b opened) int { return cmp.Or(cmp.Compare(a.lack, b.lack), cmp.Compare(a.t, b.t)) })
	for _, n := range nodes[:min(len(nodes), mostTargets)] {
		for _, q := range m.leavers(n.t, wants) {
			out = append(out, opening{p, q, n.t})
		}
	}
	return out
}

// unwanted reports whether arriving on a node worsens a group, which no pod of another
// kind can make up for by leaving.
func (a *arrivals) unwanted(n cluster.NodeID) bool {
	return slices.ContainsFunc(a.groups, func(g group) bool { return g.at(n)&harmless == 0 })
}

// wants are what p requests, and what goals count of it.
func (m *makers) wants(p cluster.PodID) []want {
	var out []want
	asks := m.s.Pods[p].Requests
	for _, name := range asks.Names() {
		if amount := asks.Get(name); amount > 0 {
			out = append(out, want{amount,
				func(n cluster.NodeID) int64 {
					return m.s.Nodes[n].Allocatable.Get(name) - m.world.Requested(n).Get(name)
				},
				func(q cluster.PodID) int64 { return m.s.Pods[q].Requests.Get(name) },
				func(n cluster.NodeID) int64 { return m.s.Nodes[n].Allocatable.Get(name) }})
		}
	}
	for i := range m.goals.headroom {
		amounts, room := m.goals.headroom[i].amounts, m.goals.headroom[i].room
		if amount := amounts.Contribution(p, cluster.NoNode); amount > 0 {
			out = append(out, want{amount,
				func(n cluster.NodeID) int64 { return room[n] },
				func(q cluster.PodID) int64 { return amounts.Contribution(q, m.world.NodeOf(q)) },
				amounts.Total})
		}
	}
	return out
}

// lacks is the largest share of a node that is missing for p, of all that it wants; at
// most 0 where nothing is.
func lacks(wants []want, n cluster.NodeID) (most float64) {
	for _, w := range wants {
		if total := w.total(n); total > 0 {
			most = max(most, float64(w.amount-w.room(n))/float64(total))
		}
	}
	return most
}

// settledFor is how long a pod must have run before it makes room for another. What this
// pass moves, the next one does not move again for the sake of others, so that passes do
// not go on for ever by steps that undo one another's landings.
const settledFor = time.Hour

// settled reports whether a pod has run for long enough; where nobody knows, it has not.
func (c *search) settled(pod cluster.PodID) bool {
	start := c.s.Pods[pod].Object.Status.StartTime
	return start != nil && c.now.Sub(start.Time) >= settledFor
}

// leavers are pods that would leave enough behind, and may leave: the least disruptive
// first, and of those the smallest.
func (m *makers) leavers(t cluster.NodeID, wants []want) []cluster.PodID {
	var out []candidate
	for _, q := range m.s.Nodes[t].Pods {
		if m.moved[q] || m.world.NodeOf(q) != t || m.verdict.rank(q) > 0 || !m.settled(q) {
			continue
		}
		enough, size := true, 0.0
		for _, w := range wants {
			has := w.of(q)
			enough = enough && has >= w.amount-w.room(t)
			if total := w.total(t); total > 0 {
				size = max(size, float64(has)/float64(total))
			}
		}
		if !enough {
			continue
		}
		if _, no := m.check(q); !no {
			p := &m.s.Pods[q]
			out = append(out, candidate{pod: q, rank: m.verdict.rank(q), size: size, cost: cost(p)})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost), cmp.Compare(a.size, b.size), cmp.Compare(a.pod, b.pod))
	})
	ids := make([]cluster.PodID, 0, mostAside)
	for _, x := range out[:min(len(out), mostAside)] {
		ids = append(ids, x.pod)
	}
	return ids
}
