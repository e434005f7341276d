package planner

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// proof is what is known of every plan: the evictions that it takes to come as near
// to the goals as permitted ones can, and as near as this plan does; and the excess
// that none removes.
type proof struct {
	*search
	start         *tracker
	reach         *reach
	full, planned *demand
	residual      float64
	byGoal        map[string]float64
}

// bound proves how few evictions could meet the requested goals, counting only
// pods that may leave and could run elsewhere, and how much excess none of them can
// remove; and how few could leave no more excess than the plan does. start are the
// goals before it.
//
// Hot nodes: a pod leaves one node only, so the needs of nodes add up. Groups:
// a pod can serve several, so only disjoint groups add up. One eviction may serve a
// node and a group at once: package cover adds up the two.
func (c *search) bound(start *tracker) plan.Bound {
	all, some := c.concerned(start)
	p := &proof{c, start, c.newReach(start), newDemand(all), newDemand(some), 0, map[string]float64{}}
	p.nodes()
	p.groups()
	b := plan.Bound{
		MinEvictions: p.full.fewest(p.full.sums[0] + p.full.sums[1]), MinForPlan: p.planned.fewest(len(c.moves)),
		Residual: plan.Round(p.residual), ResidualByGoal: p.byGoal, BlockedBy: p.blockers(),
	}
	b.Unmet, b.UnmetGoals = p.held()
	return b
}

// concerned counts the pods that goals with excess are about, and of these those of
// goals that the plan brings nearer.
func (c *search) concerned(start *tracker) (all, some int) {
	for g, goal := range start.list {
		if was := start.excess(g); was > 0 && !goal.Constraint {
			n := len(c.podsOf(g))
			all += n
			if c.goals.excess(g) < was {
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
	for n := range p.s.Nodes {
		most, planned := 0, 0
		var hot []int32
		for _, g := range p.start.byNode[n] {
			if p.start.list[g].Constraint || p.start.excess(int(g)) == 0 {
				continue
			}
			hot = append(hot, g)
			b := p.start.at[g].(*below)
			all, some, rest := p.coverLargestFirst(b, b.excess(), b.excess()-p.goals.excess(int(g)))
			most, planned = max(most, all), max(planned, some)
			p.stays(p.start.list[g], float64(rest)/float64(b.excess()), float64(rest)/float64(b.total))
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
	b, gone := p.start.at[g].(*below), p.start.excess(g)-p.goals.excess(g)
	if p.full.alone && (p.planned.alone || gone == 0) {
		return
	}
	var pods []sized
	var sum int64
	for _, x := range p.bySize(b) {
		if p.counts(x.id) {
			pods = append(pods, x)
			sum += x.size
		}
	}
	p.full.amount(min(b.excess(), sum), pods)
	p.planned.amount(gone, pods)
}

// counts reports whether a pod can leave its node for good.
func (p *proof) counts(pod cluster.PodID) bool {
	return p.reach.leaves(pod) && p.reach.anywhere(pod)
}

// stays notes a share of a goal's excess, in the goal's unit v, as residual.
func (p *proof) stays(g plan.Goal, share, v float64) {
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

// bySize are the pods on the goal's node, the largest first.
func (p *proof) bySize(b *below) []sized {
	var pods []sized
	for _, id := range p.s.Nodes[b.node].Pods {
		if size := b.amounts.Contribution(id, b.node); size > 0 {
			pods = append(pods, sized{size, id})
		}
	}
	slices.SortFunc(pods, func(x, y sized) int { return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.id, y.id)) })
	return pods
}

// coverLargestFirst counts the largest pods that may leave and cover an amount
// together, those that cover a part of it, and says what they cannot cover. Only
// pods that are counted are asked whether they may leave.
func (p *proof) coverLargestFirst(b *below, amount, part int64) (all, some int, rest int64) {
	rest = amount
	for _, x := range p.bySize(b) {
		if rest <= 0 {
			break
		}
		if !p.counts(x.id) {
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
