package planner

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// candidate is a pod whose leaving could serve a goal.
type candidate struct {
	pod cluster.PodID
	// rank is what people ask for: those who prefer it go first.
	rank int
	// benefit is the share of the goals' initial excess, times their weight,
	// that its leaving removes, summed over goals.
	benefit float64
	// size is what it takes along of the resource of the goal, relative to the
	// excess; among pods that do the same good, the smaller leaves.
	size float64
	cost float64
}

// candidates lists the pods whose leaving serves goal g, best first. The list is
// good until the next call.
func (c *search) candidates(g int) []candidate {
	out := c.buf[:0]
	goal := &c.goals.list[g]
	consider := func(id cluster.PodID) {
		if c.moved[id] || c.triedIn[id] == c.round {
			return
		}
		from := c.world.NodeOf(id)
		if from == cluster.NoNode || !c.goals.couldServe(g, id, from) {
			return
		}
		if c.aim == nodeAndGroup && !c.goals.twofold(id, from) {
			return
		}
		p := &c.s.Pods[id]
		out = append(out, candidate{id, c.verdict.rank(id), c.goals.gain(id, from), c.size(goal, p), c.costOf(p)})
	}
	for _, id := range c.podsOf(g) {
		consider(id)
	}
	c.buf = out
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.benefit, a.benefit), cmp.Compare(a.size, b.size), cmp.Compare(a.cost, b.cost), c.younger(a.pod, b.pod), cmp.Compare(a.pod, b.pod))
	})
	return out
}

// podsOf lists the pods that goal g is about, as they stood at first. One that
// came to a node since has moved already.
func (c *search) podsOf(g int) []cluster.PodID {
	if goal := &c.goals.list[g]; goal.Kind == plan.NodeBelow {
		return c.s.Nodes[goal.Node].Pods
	}
	return c.goals.list[g].Pods
}

func (c *search) size(g *plan.Goal, p *cluster.Pod) float64 {
	if g.Kind != plan.NodeBelow {
		return 0
	}
	if g.Basis == plan.BasisLoad {
		return c.loadSize(g, p)
	}
	var size float64
	alloc := &c.s.Nodes[g.Node].Allocatable
	if len(alloc.Extended) == 0 { // nearly always, and asked of every candidate; in the order of names
		for _, x := range [...][2]int64{{p.Requests.MilliCPU, alloc.MilliCPU}, {p.Requests.EphemeralStorageByte, alloc.EphemeralStorageByte}, {p.Requests.MemoryBytes, alloc.MemoryBytes}} {
			if x[1] > 0 {
				size += float64(x[0]) / float64(x[1])
			}
		}
		return size
	}
	for _, r := range alloc.Names() {
		if total := alloc.Get(r); total > 0 {
			size += float64(p.Requests.Get(r)) / float64(total)
		}
	}
	return size
}

// costOf is cost, found once per pod.
func (c *search) costOf(p *cluster.Pod) float64 {
	if c.costs == nil {
		c.costs = make([]float64, len(c.s.Pods))
	}
	if c.costs[p.ID] == 0 {
		c.costs[p.ID] = cost(p)
	}
	return c.costs[p.ID]
}

// younger orders by start time, latest first: a young pod has less warmed-up
// state to lose.
func (c *search) younger(a, b cluster.PodID) int {
	sa, sb := c.s.Pods[a].Object.Status.StartTime, c.s.Pods[b].Object.Status.StartTime
	if sa == nil || sb == nil {
		return 0
	}
	return sb.Compare(sa.Time)
}

// couldServe reports whether leaving `from` can lower the excess of goal g,
// wherever the replacement goes.
func (t *tracker) couldServe(g int, pod cluster.PodID, from cluster.NodeID) bool {
	return t.afterLeaving(g, pod, from) < t.excess(g)
}

// afterLeaving is the least excess of a goal once the pod stands elsewhere. For
// a skew that depends on where it goes, so the best domain is assumed.
func (t *tracker) afterLeaving(g int, pod cluster.PodID, from cluster.NodeID) int64 {
	k, ok := t.at[g].(*skew)
	if !ok {
		return t.at[g].with(pod, from, cluster.NoNode)
	}
	if from == cluster.NoNode {
		return t.excess(g)
	}
	return k.afterLeaving(from)
}

// afterLeaving is what moves there are once a pod has left a node for the emptiest domain.
// One that stands where the goal does not count adds to what it counts.
func (k *skew) afterLeaving(from cluster.NodeID) int64 {
	if k.after == nil {
		k.after = make([]int32, len(k.counts)+1)
	}
	a, counted := k.domain(from)
	if !counted {
		a = len(k.counts)
	}
	if k.after[a] > 0 {
		return int64(k.after[a] - 1)
	}
	emptiest := 0
	for i, c := range k.counts {
		if c < k.counts[emptiest] {
			emptiest = i
		}
	}
	k.counts[emptiest]++
	if counted {
		k.counts[a]--
	}
	n := fewestMoves(k.counts, k.limit)
	k.counts[emptiest]--
	if counted {
		k.counts[a]++
	}
	k.after[a] = int32(n) + 1
	return int64(n)
}

// gain is the candidate's benefit: over all requested goals it could serve, the
// excess removed as a share of what there was at first.
func (t *tracker) gain(pod cluster.PodID, from cluster.NodeID) float64 {
	var sum float64
	t.each(pod, from, cluster.NoNode, func(i int) bool {
		if g := &t.list[i]; !g.Constraint {
			if removed := t.excess(i) - t.afterLeaving(i, pod, from); removed > 0 {
				sum += g.Weight * float64(removed) / float64(t.initial[i])
			}
		}
		return true
	})
	return plan.Round(sum)
}
