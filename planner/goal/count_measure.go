package goal

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// CountMeasure measures CountAtMost by the pods above the limit, summed over all domains. It counts every domain, those
// in which the group cannot run any more included. A group has pods in few of many domains, so only these have a count.
type CountMeasure struct {
	Domains    *domains
	Limit      int
	notCounted []bool
	listed     []int32       // by domain: its index in the list of the goal, or NoDomain; nil if the goal lists none
	counts     []domainCount // sorted by domain
	excess     int
}

// domainCount is the number of pods in one domain.
type domainCount struct{ domain, pods int32 }

func newCountMeasure(c *measureCache, g *plan.Goal) Measure {
	m := &CountMeasure{Domains: c.domains.forKey(c.snapshot, g.TopologyKey), Limit: int(g.Limit), notCounted: g.NotCounted}
	if len(g.Domains) > 0 {
		m.listed = c.indexOf(m.Domains, g.Domains)
	}
	for _, id := range g.Pods {
		if p := &c.snapshot.Pods[id]; !p.Terminal {
			m.add(p.Node, 1)
		}
	}
	return m
}

func (m *CountMeasure) watch(t *Tracker, i int32) { t.watchPods(i) }

func (m *CountMeasure) clone() Measure {
	c := *m
	c.counts = slices.Clone(m.counts)
	return &c
}

// DomainIndex returns the domain of the node. It returns false if the goal does not count the node.
func (m *CountMeasure) DomainIndex(n cluster.NodeID) (int, bool) {
	d := m.Domains.of(n, m.notCounted)
	return int(d), d != NoDomain
}

// Over returns the number of pods above the limit in a domain.
func (m *CountMeasure) Over(domain int) int { return max(0, m.pods(int32(domain))-m.Limit) }

func (m *CountMeasure) pods(domain int32) int {
	if i, found := m.find(domain); found {
		return int(m.counts[i].pods)
	}
	return 0
}

func (m *CountMeasure) find(domain int32) (int, bool) {
	return slices.BinarySearchFunc(m.counts, domain, func(c domainCount, d int32) int { return cmp.Compare(c.domain, d) })
}

// add adds pods to the domain of the node, if the goal counts it.
func (m *CountMeasure) add(n cluster.NodeID, by int32) {
	domain := m.Domains.of(n, m.notCounted)
	if domain == NoDomain {
		return
	}
	i, found := m.find(domain)
	if !found {
		m.counts = slices.Insert(m.counts, i, domainCount{domain, 0})
	}
	m.excess -= m.Over(int(domain))
	m.counts[i].pods += by
	m.excess += m.Over(int(domain))
}

// LeastExcess returns the pods for which the domains together have no room up to the limit. Domains
// that take no pods keep at most those that they have.
func (m *CountMeasure) LeastExcess(takes func(domain int) bool) int {
	left := 0
	for _, c := range m.counts {
		left += int(c.pods)
	}
	for d := 0; d < m.Domains.Count() && left > 0; d++ {
		if takes(d) {
			left -= m.Limit
		} else {
			left -= min(m.pods(int32(d)), m.Limit)
		}
	}
	return max(0, left)
}

// SameNodes reports whether both goals count the same nodes in the same domains.
func (m *CountMeasure) SameNodes(o *CountMeasure) bool {
	return m.Domains == o.Domains && sameMarks(m.notCounted, o.notCounted)
}

func (m *CountMeasure) Excess() int64 { return int64(m.excess) }

func (m *CountMeasure) ExcessAfter(_ cluster.PodID, from, to cluster.NodeID) int64 {
	a, b := m.Domains.of(from, m.notCounted), m.Domains.of(to, m.notCounted)
	after := m.excess
	if a != b && a != NoDomain && m.pods(a) > m.Limit {
		after--
	}
	if a != b && b != NoDomain && m.pods(b) >= m.Limit {
		after++
	}
	return int64(after)
}

func (m *CountMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return m.ExcessAfter(pod, from, cluster.NoNode)
}

func (m *CountMeasure) CountsLanding(n cluster.NodeID) bool {
	if n == cluster.NoNode {
		return true
	}
	d := m.Domains.of(n, m.notCounted)
	return d != NoDomain && (m.listed == nil || m.listed[d] != NoDomain)
}

func (m *CountMeasure) Move(_ cluster.PodID, from, to cluster.NodeID) {
	m.add(from, -1)
	m.add(to, 1)
}

func (m *CountMeasure) Reported() float64 { return float64(m.excess) }

// addEffects adds the effect of a landing in each domain.
func (m *CountMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	from := m.Domains.of(a.From, m.notCounted)
	leaves := from != NoDomain && m.pods(from) > m.Limit
	helps := effect(0)
	if t.Asks(int(i), pod) {
		helps = helpful
	}
	landing := func(full, listed bool) effect {
		switch {
		case !full && leaves && listed:
			return harmless | helps
		case !full || leaves:
			return harmless
		}
		return 0
	}
	listed := func(d int) bool { return m.listed == nil || m.listed[d] != NoDomain }
	effects := make([]effect, m.Domains.Count()+1)
	effects[0] = landing(false, false)
	for d := range m.Domains.Count() {
		effects[d+1] = landing(m.Limit == 0, listed(d))
	}
	for _, c := range m.counts {
		effects[c.domain+1] = landing(int(c.pods) >= m.Limit, listed(int(c.domain)))
	}
	if from != NoDomain {
		effects[from+1] = harmless
	}
	a.groups = append(a.groups, groupEffect{domainByNode: m.Domains.ByNode, notCounted: m.notCounted, effects: effects})
}
