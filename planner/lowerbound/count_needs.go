package lowerbound

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// addCountNeeds adds a need for each domain with more pods of a group than the limit: as many of
// these pods as are above the limit must leave the domain, whatever enters it. No move of another
// pod replaces them, so the needs of the domains add up. If too few pods may leave a domain, the
// remaining excess is part of the residual.
//
// If all domains together have no room for the group, at least leastExcess remains, wherever the pods land. It is then
// open which domains stay above the limit, so there is one need: one eviction lowers the excess by at most one.
//
// addCountNeeds skips the goal if another need has counted one of its pods.
func (p *proof) addCountNeeds(g int, m *goal.CountMeasure, used []bool) {
	wanted, after := p.result.End.Goals.Goals[g], p.result.End.Goals.Measures[g].(*goal.CountMeasure)
	byDomain, stays := p.podsAboveLimit(m, wanted), 0
	for at, pods := range byDomain {
		stays += max(0, m.Over(at)-len(pods))
	}
	least := p.reach.leastExcess(m, wanted.Domains)
	if p.result.Options.NeedsNoPlace(wanted.Strategy) {
		least = 0 // pods whose replacements stay Pending count nowhere
	}
	p.addResidual(wanted, float64(max(least, stays))/float64(m.Excess()), float64(max(least, stays)))
	var all []cluster.PodID
	domains := slices.Sorted(maps.Keys(byDomain))
	for _, at := range domains {
		all = append(all, byDomain[at]...)
	}
	if slices.ContainsFunc(all, func(id cluster.PodID) bool { return used[id] }) {
		return
	}
	for _, id := range all {
		used[id] = true
	}
	if least > stays {
		p.full.addGroup(int(m.Excess())-least, all)
	}
	for _, at := range domains {
		if least <= stays {
			p.full.addGroup(min(m.Over(at), len(byDomain[at])), byDomain[at])
		}
		p.planned.addGroup(max(0, m.Over(at)-after.Over(at)), byDomain[at])
	}
}

// podsAboveLimit returns, for each domain above the limit, the pods that may leave it.
func (p *proof) podsAboveLimit(m *goal.CountMeasure, g plan.Goal) map[int][]cluster.PodID {
	out := map[int][]cluster.PodID{}
	for _, id := range g.Pods {
		pod := &p.result.Snapshot.Pods[id]
		at, counted := m.DomainIndex(pod.Node)
		if !counted || pod.Terminal || m.Over(at) == 0 {
			continue
		}
		out[at] = append(out[at], id)
		if !p.reach.mayLeave(id) || !p.reach.canLeaveDomain(m, at, id) {
			out[at] = out[at][:len(out[at])-1]
		}
	}
	return out
}

// leastExcess returns the excess that remains although every pod may leave: the pods for which the
// domains have no room up to the limit. Only domains with a Ready node take pods, and only those in
// the sorted list unless it is nil. If a node that the goal does not count takes pods, leastExcess
// returns 0.
func (r *reachability) leastExcess(m *goal.CountMeasure, domains []string) int {
	takes, all := r.domainsThatTake(m)
	if !all {
		return 0
	}
	return m.LeastExcess(func(at int) bool {
		if !takes[at] || domains == nil {
			return takes[at]
		}
		_, listed := slices.BinarySearch(domains, m.Domains.Name(at))
		return listed
	})
}

// domainsThatTake marks the domains with a node to which pods may be sent. The result all is false if such a node is in
// no counted domain.
// domainsThatTake reuses the latest result, because nearly all goals count the same nodes.
func (r *reachability) domainsThatTake(m *goal.CountMeasure) (takes []bool, all bool) {
	if r.takesOf != nil && r.takesOf.SameNodes(m) {
		return r.takes, r.takes != nil
	}
	r.takesOf, r.takes = m, make([]bool, m.Domains.Count())
	for _, n := range r.all {
		if !r.result.End.Targets.OfNodes()[n] {
			continue
		}
		at, counted := m.DomainIndex(n)
		if !counted {
			r.takes = nil
			break
		}
		r.takes[at] = true
	}
	return r.takes, r.takes != nil
}

// outsideOfClass identifies the nodes outside one domain of a goal, and an equivalence class.
type outsideOfClass struct {
	goal   *goal.CountMeasure
	domain int
	class  int
}

// canLeaveDomain reports whether the pod can run on a node outside its domain. The caller must
// check that the pod may be evicted.
func (r *reachability) canLeaveDomain(m *goal.CountMeasure, domain int, pod cluster.PodID) bool {
	if r.needNoPlace[pod] {
		return true
	}
	if m.Domains.NodesIn(domain) == 1 {
		return r.canRunElsewhere(pod)
	}
	key := outsideOfClass{m, domain, r.result.End.ClassOf(pod)}
	return canClassRunOnAny(r, r.outside, key, pod, func() []cluster.NodeID {
		return slices.DeleteFunc(slices.Clone(r.all), func(n cluster.NodeID) bool {
			at, counted := m.DomainIndex(n)
			return counted && at == domain
		})
	})
}
