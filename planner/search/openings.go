package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// opening says that pod could land on target if displaced left it.
type opening struct {
	pod, displaced cluster.PodID
	target         cluster.NodeID
}

// resourceNeed is one resource, or one amount that a goal counts, of which a pod needs room. All values are
// in the unit of the resource.
type resourceNeed struct {
	amount int64
	room   func(cluster.NodeID) int64
	ofPod  func(cluster.PodID) int64
	total  func(cluster.NodeID) int64
}

// openedNode is a node that could run a pod if another left, with the largest missing share of the node's
// total.
type openedNode struct {
	node    cluster.NodeID
	missing float64
}

// openings returns the openings for p: nodes that lack room for p and on which p would serve a goal, each
// with pods whose leaving makes enough room. Nodes with the smallest missing share come first.
func (m *displacementSearch) openings(p cluster.PodID) (out []opening) {
	m.tries-- // it checks every node
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
		if lack := largestMissingShare(wants, t); lack > 0 {
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

// resourceNeeds returns what p requests, and what goals with a headroom count of p.
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

// largestMissingShare returns the largest missing room for p, as a share of the node's total.
// largestMissingShare returns 0 if nothing is missing.
func largestMissingShare(wants []resourceNeed, n cluster.NodeID) (most float64) {
	for _, w := range wants {
		if total := w.total(n); total > 0 {
			most = max(most, float64(w.amount-w.room(n))/float64(total))
		}
	}
	return most
}

// minRuntime is how long a pod must have run before it makes room for another. Without it, consecutive passes
// could undo each other's steps without end.
const minRuntime = time.Hour

// runsLongEnough reports whether the pod has run for at least minRuntime. runsLongEnough returns false if the
// start time is unknown.
func (c *pass) runsLongEnough(pod cluster.PodID) bool {
	start := c.Snapshot.Pods[pod].Object.Status.StartTime
	return start != nil && c.Now.Sub(start.Time) >= minRuntime
}

// displaceable returns at most maxDisplaceable pods on t that may leave and whose leaving makes enough room.
// They are ordered by rank, eviction cost and size. Pods with a preference against eviction are left out.
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

// displacementSearch finds steps of two moves.
type displacementSearch struct {
	*goalSearch
	tries int
	// landings caches, by displaced pod, the predicted landing of its replacement; nil: no acceptable
	// landing.
	landings map[cluster.PodID]*Landing
}

// These constants bound the search for steps. It may try a fortieth of the predictions made before it, a few
// percent of the time. It may always try displacementPredictions divided by the number of nodes, because a
// prediction costs more in larger clusters. maxTries bounds both. That is 10,000 tries on up to 200 nodes and
// 4,000 on 500. With fewer tries, the next plan would find steps that this plan missed.
const (
	displacementPredictions = 2_000_000
	displacementShare       = 40
	maxTries                = 10_000
	maxCandidates           = 8 // pods per goal for which others may make room
	maxTargets              = 8 // nodes per pod, least missing room first
	maxDisplaceable         = 4 // pods per node that may make room
	displacementRounds      = 8 // repetitions of steps followed by single moves
)
