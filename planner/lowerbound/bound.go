package lowerbound

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// proof is what is known of every plan: the evictions that it takes to come as near
// to the goals as permitted ones can, and as near as this plan does; and the excess
// that none removes.
type proof struct {
	*search.Search
	start         *goal.Tracker
	reach         *Reachability
	full, planned *evictionNeed
	residual      float64
	byGoal        map[string]float64
}

// Of proves how few evictions could meet the requested goals, counting only
// pods that may leave and could run elsewhere, and how much excess none of them can
// remove; and how few could leave no more excess than the plan does. start are the
// goals before it.
//
// Hot nodes: a pod leaves one node only, so the needs of nodes add up. Groups:
// a pod can serve several, so only disjoint groups add up. One eviction may serve a
// node and a group at once: package cover adds up the two.
func Of(c *search.Search, start *goal.Tracker) plan.Bound {
	all, some := podsOfUnmetGoals(c, start)
	p := &proof{c, start, newReachability(c, start), newDemand(all), newDemand(some), 0, map[string]float64{}}
	p.nodes()
	p.groups()
	b := plan.Bound{
		MinEvictions: p.full.lowerBound(p.full.sums[0] + p.full.sums[1]), MinForPlan: p.planned.lowerBound(len(c.Moves)),
		Residual: plan.Round(p.residual), ResidualByGoal: p.byGoal, BlockedBy: p.blockers(),
	}
	b.Unmet, b.UnmetGoals = p.unmetGoals()
	return b
}

// podsOfUnmetGoals counts the pods that goals with excess are about, and of these those of
// goals that the plan brings nearer.
func podsOfUnmetGoals(c *search.Search, start *goal.Tracker) (all, some int) {
	for g, goal := range start.Goals {
		if was := start.Excess(g); was > 0 && !goal.Constraint {
			n := len(c.PodsOf(g))
			all += n
			if c.Goals.Excess(g) < was {
				some += n
			}
		}
	}
	return all, some
}

// nodes adds, for each node, the largest need of one resource: its excess
// covered by the largest pods that may leave. What they cannot cover is
// residual, as a share of the goal's excess.
func (p *proof) nodes() {
	for n := range p.Snapshot.Nodes {
		most, planned := 0, 0
		var hot []int32
		for _, g := range p.start.ByNode[n] {
			if p.start.Goals[g].Constraint || p.start.Excess(int(g)) == 0 {
				continue
			}
			hot = append(hot, g)
			b := p.start.Measures[g].(*goal.NodeMeasure)
			all, some, rest := p.coverLargestFirst(b, b.Excess(), b.Excess()-p.Goals.Excess(int(g)))
			most, planned = max(most, all), max(planned, some)
			p.addResidual(p.start.Goals[g], float64(rest)/float64(b.Excess()), float64(rest)/float64(b.Total))
		}
		if most == 0 {
			continue
		}
		p.full.node(most)
		p.planned.node(planned)
		for _, g := range hot {
			p.amounts(int(g))
		}
	}
}

// amounts adds what a goal about a node needs, of all pods that could bring it.
func (p *proof) amounts(g int) {
	b, gone := p.start.Measures[g].(*goal.NodeMeasure), p.start.Excess(g)-p.Goals.Excess(g)
	if p.full.alone && (p.planned.alone || gone == 0) {
		return
	}
	var pods []sized
	var sum int64
	for _, x := range p.podsBySize(b) {
		if p.canLeaveForGood(x.id) {
			pods = append(pods, x)
			sum += x.size
		}
	}
	p.full.amount(min(b.Excess(), sum), pods)
	p.planned.amount(gone, pods)
}

// canLeaveForGood reports whether a pod can leave its node for good.
func (p *proof) canLeaveForGood(pod cluster.PodID) bool {
	return p.reach.mayLeave(pod) && p.reach.anywhere(pod)
}

// addResidual notes a share of a goal's excess, in the goal's unit v, as residual.
func (p *proof) addResidual(g plan.Goal, share, v float64) {
	if share > 0 {
		p.residual += float64(g.Weight * share)
		p.byGoal[g.ID] = plan.Round(v)
	}
}

// sized is a pod with what it requests of a resource or, for goals by load, is known
// to use.
type sized struct {
	size int64
	id   cluster.PodID
}

// podsBySize are the pods on the goal's node, the largest first.
func (p *proof) podsBySize(b *goal.NodeMeasure) []sized {
	var pods []sized
	for _, id := range p.Snapshot.Nodes[b.Node].Pods {
		if size := b.Amounts.Contribution(id, b.Node); size > 0 {
			pods = append(pods, sized{size, id})
		}
	}
	slices.SortFunc(pods, func(x, y sized) int { return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.id, y.id)) })
	return pods
}

// coverLargestFirst counts the largest pods that may leave and cover an amount
// together, those that cover a part of it, and says what they cannot cover. Only
// pods that are counted are asked whether they may leave.
func (p *proof) coverLargestFirst(b *goal.NodeMeasure, amount, part int64) (all, some int, rest int64) {
	rest = amount
	for _, x := range p.podsBySize(b) {
		if rest <= 0 {
			break
		}
		if !p.canLeaveForGood(x.id) {
			continue
		}
		if amount-rest < part {
			some++
		}
		rest -= x.size
		all++
	}
	return all, some, max(0, rest)
}
