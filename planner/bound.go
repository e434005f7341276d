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

// bound proves how few evictions could meet the requested goals, counting only
// pods that may leave, and how much excess none of them can remove.
//
// Hot nodes: a pod leaves one node only, so the needs of nodes add up. Groups:
// a pod can serve several, so only disjoint groups add up. One eviction may
// serve a node and a group at once, so the two sums combine by max.
func (c *search) bound() plan.Bound {
	start := c.afresh()
	nodes, residual := start.nodesBound()
	groups, more := start.groupsBound()
	return plan.Bound{MinEvictions: max(nodes, groups), Residual: plan.Round(residual + more), BlockedBy: c.blockers()}
}

// nodesBound sums, over nodes, the largest need of one resource: its excess
// covered by the largest pods that may leave. What they cannot cover is
// residual, as a share of the goal's excess.
func (c *search) nodesBound() (evictions int, residual float64) {
	for n := range c.s.Nodes {
		most := 0
		for _, g := range c.goals.byNode[n] {
			b, ok := c.goals.at[g].(*below)
			if !ok || c.goals.list[g].Constraint || b.excess() == 0 {
				continue
			}
			count, rest := c.coverLargestFirst(b)
			most = max(most, count)
			residual += c.goals.list[g].Weight * float64(rest) / float64(b.excess())
		}
		evictions += most
	}
	return evictions, residual
}

func (c *search) coverLargestFirst(b *below) (count int, rest int64) {
	var sizes []int64
	for _, id := range c.s.Nodes[b.node].Pods {
		if _, refused := c.verdict.of(id); !refused {
			sizes = append(sizes, c.s.Pods[id].Requests.Get(b.resource))
		}
	}
	slices.SortFunc(sizes, func(x, y int64) int { return cmp.Compare(y, x) })
	rest = b.excess()
	for _, size := range sizes {
		if rest <= 0 || size == 0 {
			break
		}
		rest -= size
		count++
	}
	return count, max(0, rest)
}

// groupsBound sums the fewest moves of disjoint groups. It claims nothing for a
// group whose total is about to change (a pod of its workloads is Pending or
// terminating) and counts as residual what too few evictable pods leave.
func (c *search) groupsBound() (evictions int, residual float64) {
	used := map[cluster.PodID]bool{}
	for g, goal := range c.goals.list {
		k, ok := c.goals.at[g].(*skew)
		if !ok || goal.Constraint || k.excess() == 0 || !c.settled(goal, used) {
			continue
		}
		for _, p := range goal.Pods {
			used[p] = true
		}
		limit, moves := k.reachable(c.leaving(k, goal))
		evictions += moves
		if was := spread(k.counts) - k.limit; was > 0 {
			residual += goal.Weight * float64(limit-k.limit) / float64(was)
		}
	}
	return evictions, residual
}

func (c *search) settled(g plan.Goal, used map[cluster.PodID]bool) bool {
	for _, id := range g.Pods {
		if used[id] {
			return false
		}
		w := c.s.WorkloadOf(&c.s.Pods[id])
		if w == nil {
			continue
		}
		for _, other := range w.Pods {
			if p := &c.s.Pods[other]; p.Node == cluster.NoNode || p.Terminating {
				return false
			}
		}
	}
	return true
}

// leaving counts, per domain, the pods of the group that may leave.
func (c *search) leaving(k *skew, g plan.Goal) []int {
	out := make([]int, len(k.counts))
	for _, id := range g.Pods {
		if i, ok := k.domain(c.s.Pods[id].Node); ok {
			if _, refused := c.verdict.of(id); !refused {
				out[i]++
			}
		}
	}
	return out
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
		pods := goal.Pods
		if goal.Kind == plan.NodeBelow {
			pods = c.s.Nodes[goal.Node].Pods
		}
		counts := map[plan.Code]int{}
		for _, id := range pods {
			if r, ok := c.refused.byPod[id]; ok {
				counts[r.Reason.Code]++
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
