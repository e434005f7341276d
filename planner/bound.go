package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// proof is what is known of every plan: the fewest evictions that come as near
// to the goals as permitted ones can, and as near as this plan does; and the
// excess that none removes.
type proof struct {
	evictions, forPlan int
	residual           float64
	byGoal             map[string]float64
}

// bound proves how few evictions could meet the requested goals, counting only
// pods that may leave, and how much excess none of them can remove; and how few
// could leave no more excess than the plan does. start are the goals before it.
//
// Hot nodes: a pod leaves one node only, so the needs of nodes add up. Groups:
// a pod can serve several, so only disjoint groups add up. One eviction may
// serve a node and a group at once, so the two sums combine by max.
func (c *search) bound(start *tracker) plan.Bound {
	byGoal := map[string]float64{}
	nodes, groups := proof{byGoal: byGoal}, proof{byGoal: byGoal}
	c.nodesBound(&nodes, start)
	c.groupsBound(&groups, start)
	return plan.Bound{
		MinEvictions: max(nodes.evictions, groups.evictions), MinForPlan: max(nodes.forPlan, groups.forPlan),
		Residual: plan.Round(nodes.residual + groups.residual), ResidualByGoal: byGoal, BlockedBy: c.blockers(),
	}
}

// nodesBound sums, over nodes, the largest need of one resource: its excess
// covered by the largest pods that may leave. What they cannot cover is
// residual, as a share of the goal's excess.
func (c *search) nodesBound(out *proof, start *tracker) {
	for n := range c.s.Nodes {
		most, planned := 0, 0
		for _, g := range start.byNode[n] {
			b, ok := start.at[g].(*below)
			if !ok || start.list[g].Constraint || b.excess() == 0 {
				continue
			}
			all, some, rest := c.coverLargestFirst(b, b.excess(), b.excess()-c.goals.excess(int(g)))
			most, planned = max(most, all), max(planned, some)
			out.stays(start.list[g], float64(rest)/float64(b.excess()), float64(rest)/float64(b.total))
		}
		out.evictions += most
		out.forPlan += planned
	}
}

// stays notes a share of a goal's excess, in the goal's unit v, as residual.
func (out *proof) stays(g plan.Goal, share, v float64) {
	if share > 0 {
		out.residual += g.Weight * share
		out.byGoal[g.ID] = plan.Round(v)
	}
}

// coverLargestFirst counts the largest pods that may leave and cover an amount
// together, those that cover a part of it, and says what they cannot cover. Only
// pods that are counted are asked whether they may leave.
func (c *search) coverLargestFirst(b *below, amount, part int64) (all, some int, rest int64) {
	type pod struct {
		size int64
		id   cluster.PodID
	}
	var pods []pod
	for _, id := range c.s.Nodes[b.node].Pods {
		if size := b.amounts.Of(id, b.node); size > 0 {
			pods = append(pods, pod{size, id})
		}
	}
	slices.SortFunc(pods, func(x, y pod) int { return cmp.Or(cmp.Compare(y.size, x.size), cmp.Compare(x.id, y.id)) })
	rest = amount
	for _, p := range pods {
		if rest <= 0 {
			break
		}
		if _, refused := c.verdict.of(p.id); refused {
			continue
		}
		if amount-rest < part {
			some++
		}
		rest -= p.size
		all++
	}
	return all, some, max(0, rest)
}

// groupsBound sums the fewest moves of disjoint groups and counts as residual
// what too few evictable pods leave. One eviction brings a group nearer by one
// move at most, which bounds a plan that goes part of the way. It claims nothing
// for a group whose total may change: a pod of its workloads is Pending or
// terminating, or may come in from where the goal does not count.
func (c *search) groupsBound(out *proof, start *tracker) {
	used, whole := make([]bool, len(c.s.Pods)), wholeness{}
	for g, goal := range c.goals.list {
		k, ok := start.at[g].(*skew)
		if !ok || goal.Constraint || k.excess() == 0 || !c.settled(goal, used, whole) {
			continue
		}
		leaving, joining := c.leaving(k, goal)
		if joining {
			continue
		}
		for _, p := range goal.Pods {
			used[p] = true
		}
		limit, moves := k.reachable(leaving)
		out.evictions += moves
		if left := c.goals.excess(g); left > 0 {
			moves = int(k.excess() - left)
		}
		out.forPlan += moves
		if was := spread(k.counts) - k.limit; was > 0 {
			out.stays(goal, float64(limit-k.limit)/float64(was), float64(limit-k.limit))
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

func (c *search) settled(g plan.Goal, used []bool, whole wholeness) bool {
	last := cluster.NoWorkload // nearly always that of all
	for _, id := range g.Pods {
		w := c.s.Pods[id].Workload
		if used[id] || w != cluster.NoWorkload && w != last && !whole.of(c.s, w) {
			return false
		}
		last = w
	}
	return true
}

// leaving counts, per domain, the pods of the group that may leave, as far as more
// of them stand there than in the emptiest: no plan takes more. joining says that
// one may leave which stands in none of the domains.
func (c *search) leaving(k *skew, g plan.Goal) (out []int, joining bool) {
	out = make([]int, len(k.counts))
	least := slices.Min(k.counts)
	for _, id := range g.Pods {
		i, counted := k.domain(c.s.Pods[id].Node)
		if counted && out[i] >= k.counts[i]-least {
			continue
		}
		switch _, refused := c.verdict.of(id); {
		case refused:
		case counted:
			out[i]++
		default:
			joining = true
		}
	}
	return out, joining
}

// reachable is the least skew, not below the limit, that can be met when only
// `leaving` pods of each domain move, and the fewest moves that meet it.
func (k *skew) reachable(leaving []int) (limit, moves int) {
	for s := k.limit; s < spread(k.counts); s++ {
		if n, ok := fewestMovesOf(k.counts, leaving, s); ok {
			return s, n
		}
	}
	return spread(k.counts), 0
}

// fewestMovesOf is fewestMoves with at most leaving[z] pods leaving domain z.
func fewestMovesOf(counts, leaving []int, s int) (int, bool) {
	best, found := 0, false
	for m := slices.Min(counts); m <= slices.Max(counts); m++ {
		out, in, spare, ok := 0, 0, 0, true
		for z, c := range counts {
			need := max(0, c-m-s)
			ok = ok && need <= leaving[z]
			out += need
			in += max(0, m-c)
			spare += max(0, min(leaving[z], c-m))
		}
		if n := max(out, in); ok && spare >= in && (!found || n < best) {
			best, found = n, true
		}
	}
	return best, found
}

// blockers says, for each goal that the plan leaves with excess, which refusals
// its pods met.
func (c *search) blockers() []plan.Blocker {
	out := []plan.Blocker{}
	for g, goal := range c.goals.list {
		if goal.Constraint || c.goals.excess(g) == 0 {
			continue
		}
		counts := map[plan.Code]int{}
		for _, id := range c.podsOf(g) {
			if r, ok := c.refused.byPod[id]; ok {
				counts[r.reason.Code]++
			}
		}
		for _, code := range slices.SortedFunc(maps.Keys(counts), func(a, b plan.Code) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(string(a), string(b)))
		}) {
			out = append(out, plan.Blocker{Code: code, Detail: fmt.Sprintf("%s (%s): %d of its pods", goal.Subject, goal.ID, counts[code])})
		}
	}
	return out
}
