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
	return plan.Bound{
		MinEvictions: p.full.fewest(p.full.sums[0] + p.full.sums[1]), MinForPlan: p.planned.fewest(len(c.moves)),
		Residual: plan.Round(p.residual), ResidualByGoal: p.byGoal, BlockedBy: p.blockers(),
	}
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
		p.residual += g.Weight * share
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
		if size := b.amounts.Of(id, b.node); size > 0 {
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

// groups adds the fewest moves of disjoint groups and counts as residual
// what too few pods that could change domain leave. One eviction brings a group nearer by one
// move at most, which bounds a plan that goes part of the way. It claims nothing
// for a group whose total may change: a pod of its workloads is Pending or
// terminating, or may come in from where the goal does not count.
func (p *proof) groups() {
	used, whole := make([]bool, len(p.s.Pods)), wholeness{}
	for g, goal := range p.goals.list {
		k, ok := p.start.at[g].(*skew)
		if !ok || goal.Constraint || k.excess() == 0 || !p.settled(goal, used, whole) {
			continue
		}
		able, open := p.able(k, goal)
		if open {
			continue
		}
		for _, id := range goal.Pods {
			used[id] = true
		}
		limit, moves := k.reachable(able.leaving, able.arriving)
		p.full.group(moves, able.pods)
		if left := p.goals.excess(g); left > 0 {
			moves = int(k.excess() - left)
		}
		p.planned.group(moves, able.givers(k))
		if was := spread(k.counts) - k.limit; was > 0 {
			p.stays(goal, float64(limit-k.limit)/float64(was), float64(limit-k.limit))
		}
	}
}

// wholeness says of workloads whether all their pods are bound and stay.
type wholeness map[cluster.WorkloadID]bool

func (x wholeness) of(s *cluster.Snapshot, w cluster.WorkloadID) bool {
	whole, known := x[w]
	if !known {
		whole = !slices.ContainsFunc(s.Workloads[w].Pods, func(id cluster.PodID) bool {
			return s.Pods[id].Node == cluster.NoNode || s.Pods[id].Terminating
		})
		x[w] = whole
	}
	return whole
}

func (p *proof) settled(g plan.Goal, used []bool, whole wholeness) bool {
	last := cluster.NoWorkload // nearly always that of all
	for _, id := range g.Pods {
		w := p.s.Pods[id].Workload
		if used[id] || w != cluster.NoWorkload && w != last && !whole.of(p.s, w) {
			return false
		}
		last = w
	}
	return true
}

// mobile are the pods of a group that could change domain, and how many could leave
// and enter each.
type mobile struct {
	pods              []cluster.PodID
	domains           []int // of pods
	leaving, arriving []int
}

// able finds the pods of a group that could change domain. open says that one could
// come from where the goal does not count, or go there.
func (p *proof) able(k *skew, g plan.Goal) (m mobile, open bool) {
	nodes, outside := p.reach.byDomain(k)
	m.leaving, m.arriving = make([]int, len(k.counts)), make([]int, len(k.counts))
	for _, id := range g.Pods {
		from, counted := k.domain(p.s.Pods[id].Node)
		if p.s.Pods[id].Terminal || !p.reach.leaves(id) {
			continue
		}
		if !counted || p.reach.among(id, outside) {
			return m, true
		}
		if p.enters(nodes, id, from, m.arriving) {
			m.pods, m.domains = append(m.pods, id), append(m.domains, from)
			m.leaving[from]++
		}
	}
	return m, false
}

// enters counts the domains that the pod could move to, and reports whether there
// are any.
func (p *proof) enters(nodes [][]cluster.NodeID, id cluster.PodID, from int, arriving []int) (any bool) {
	for z := range nodes {
		if z != from && p.reach.among(id, nodes[z]) {
			arriving[z]++
			any = true
		}
	}
	return any
}

// givers are the pods of which any plan must move as many as it brings the group
// nearer: those in domains above m1, the least count to which the emptiest can rise
// so that fewer than F pods stand above it and the limit, F being the fewest moves.
//
// Let c' be the counts after a plan, and c* those where the limit is met by the
// fewest further moves. From c to c*, domains above m1 give at least F pods: where c*
// has its emptiest below m1, at least F pods stand too high, all of them above m1; and
// else the others keep what they have, since no domain may fall below the emptiest,
// and F pods must arrive. F(c') of them go after the plan, so F - F(c') go in it.
func (m mobile) givers(k *skew) (out []cluster.PodID) {
	m1 := k.leastFull()
	for i, id := range m.pods {
		if k.counts[m.domains[i]] > m1 {
			out = append(out, id)
		}
	}
	return out
}

// leastFull is m1 of givers; below every count where the limit is less than 1.
func (k *skew) leastFull() int {
	m := slices.Min(k.counts)
	if k.limit < 1 {
		return m - 1
	}
	for ; ; m++ {
		out := 0
		for _, c := range k.counts {
			out += max(0, c-m-k.limit)
		}
		if out < k.moves {
			return m
		}
	}
}

// reachable is the least skew, not below the limit, that can be met when only so many
// pods leave and enter each domain, and the fewest moves that meet it.
func (k *skew) reachable(leaving, arriving []int) (limit, moves int) {
	for s := k.limit; s < spread(k.counts); s++ {
		if n, ok := fewestMovesOf(k.counts, leaving, arriving, s); ok {
			return s, n
		}
	}
	return spread(k.counts), 0
}

// fewestMovesOf is fewestMoves with at most leaving[z] pods leaving domain z, and
// arriving[z] entering it.
func fewestMovesOf(counts, leaving, arriving []int, s int) (int, bool) {
	best, found := 0, false
	for m := slices.Min(counts); m <= slices.Max(counts); m++ {
		out, in, spare, room, ok := 0, 0, 0, 0, true
		for z, c := range counts {
			give, take := max(0, c-m-s), max(0, m-c)
			ok = ok && give <= leaving[z] && take <= arriving[z]
			out += give
			in += take
			spare += max(0, min(leaving[z], c-m))
			room += max(0, min(arriving[z], m+s-c))
		}
		if n := max(out, in); ok && spare >= in && room >= out && (!found || n < best) {
			best, found = n, true
		}
	}
	return best, found
}
