package goal

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// ApartMeasure measures PodsApart by the number of conflicts whose two pods are in the same domain. Each eviction of a
// pod in such a conflict lowers the excess, so the search can use the other pod where one may not leave.
type ApartMeasure struct {
	conflicts []apartPair
	byPod     map[cluster.PodID][]int32 // by pod: its conflicts
	at        map[cluster.PodID]cluster.NodeID
	together  int // conflicts whose pods are in the same domain
}

// apartPair is a conflict with the domains of its topology key.
type apartPair struct {
	pods    [2]cluster.PodID
	domains *domains
}

func newApartMeasure(c *measureCache, g *plan.Goal) Measure {
	m := &ApartMeasure{byPod: map[cluster.PodID][]int32{}, at: map[cluster.PodID]cluster.NodeID{}}
	for i, x := range g.Conflicts {
		m.conflicts = append(m.conflicts, apartPair{x.Pods, c.domains.forKey(c.snapshot, x.TopologyKey)})
		for _, pod := range x.Pods {
			m.byPod[pod], m.at[pod] = append(m.byPod[pod], int32(i)), c.snapshot.Pods[pod].Node
		}
	}
	for i := range m.conflicts {
		if m.isTogether(i) {
			m.together++
		}
	}
	return m
}

func (m *ApartMeasure) isTogether(i int) bool {
	x := &m.conflicts[i]
	return x.domains.same(m.at[x.pods[0]], m.at[x.pods[1]])
}

// Together calls f with the pods of each conflict whose pods are in the same domain.
func (m *ApartMeasure) Together(f func(a, b cluster.PodID)) {
	for i := range m.conflicts {
		if m.isTogether(i) {
			f(m.conflicts[i].pods[0], m.conflicts[i].pods[1])
		}
	}
}

// conflictsOn returns the number of conflicts that the pod has on a node.
func (m *ApartMeasure) conflictsOn(pod cluster.PodID, n cluster.NodeID) (count int64) {
	for _, i := range m.byPod[pod] {
		if x := &m.conflicts[i]; x.domains.same(n, m.at[x.partner(pod)]) {
			count++
		}
	}
	return count
}

func (x *apartPair) partner(pod cluster.PodID) cluster.PodID {
	if x.pods[0] == pod {
		return x.pods[1]
	}
	return x.pods[0]
}

func (m *ApartMeasure) Excess() int64 { return int64(m.together) }

func (m *ApartMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return int64(m.together) - m.conflictsOn(pod, from) + m.conflictsOn(pod, to)
}

func (m *ApartMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return int64(m.together) - m.conflictsOn(pod, from)
}

func (*ApartMeasure) CountsLanding(cluster.NodeID) bool { return true }

func (m *ApartMeasure) Move(pod cluster.PodID, from, to cluster.NodeID) {
	m.together = int(m.ExcessAfter(pod, from, to))
	m.at[pod] = to
}

func (m *ApartMeasure) Reported() float64 { return float64(m.together) }

func (m *ApartMeasure) watch(t *Tracker, i int32) {
	for _, p := range slices.Concat(t.Goals[i].Pods, t.Goals[i].Staying) {
		t.byPod[p] = append(t.byPod[p], i)
	}
}

// addEffects adds the effect of a landing: it helps where the pod has no conflict. A landing beside a pod of a conflict
// counts as harm, even if the pod had more conflicts before.
func (m *ApartMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	apart := make([]bool, len(t.Snapshot.Nodes))
	for n := range apart {
		apart[n] = true
	}
	last := apartPlace{}
	for _, c := range m.byPod[pod] {
		x := &m.conflicts[c]
		if place := (apartPlace{x.domains, m.at[x.partner(pod)]}); place != last {
			place.clear(apart)
			last = place
		}
	}
	effects := []effect{0, harmless}
	if t.Asks(int(i), pod) && m.conflictsOn(pod, a.From) > 0 {
		effects[1] |= helpful
	}
	a.groups = append(a.groups, groupEffect{marked: apart, effects: effects})
}

// apartPlace is the domain of a node.
type apartPlace struct {
	domains *domains
	node    cluster.NodeID
}

// clear removes the marks of the nodes in the domain.
func (p apartPlace) clear(marked []bool) {
	for n := range marked {
		if p.domains.same(cluster.NodeID(n), p.node) {
			marked[n] = false
		}
	}
}

func (m *ApartMeasure) clone() Measure {
	c := *m
	c.at = maps.Clone(m.at)
	return &c
}
