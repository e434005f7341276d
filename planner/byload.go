package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// requested holds the requests of all pods, by resource: what a goal counts that
// does not say otherwise.
type requested map[string]*cluster.Amounts

func (r requested) of(s *cluster.Snapshot, g plan.Goal) *cluster.Amounts {
	if g.Amounts != nil {
		return g.Amounts
	}
	if r[g.Resource] == nil {
		r[g.Resource] = s.Amounts(cluster.Measure{Resource: g.Resource}, cluster.UsageRequirements{})
	}
	return r[g.Resource]
}

func knows(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}

// vouched says whether goal i can be served by a pod's going to a node: nobody can
// say of one whose use is unknown that it stays below, and one that no goal is about,
// since it is excluded or out of scope, is not to be overloaded instead.
func (t *tracker) vouched(i int, pod cluster.PodID, n cluster.NodeID) bool {
	b, ok := t.at[i].(*below)
	return !ok || !b.amounts.Measure.ByUsage || n == cluster.NoNode || knows(b.amounts, n) && has(t.spare(pod), n)
}

// boundByLoad notes which nodes are known, and how much more may come to those that no
// goal is about.
func (t *tracker) boundByLoad(b *below, limit float64) {
	if t.known[b.amounts] == nil {
		known, room := make([]int64, len(t.s.Nodes)), make([]int64, len(t.s.Nodes))
		for i := range t.s.Nodes {
			room[i] = unbounded
			if used, _, ok := b.amounts.NodeUsed(cluster.NodeID(i)); ok {
				known[i] = unbounded
				room[i] = int64(limit*float64(b.amounts.Total(cluster.NodeID(i)))+rounding) - used
			}
		}
		t.known[b.amounts], t.elsewhere[b.amounts] = known, room
	}
	t.elsewhere[b.amounts][b.node] = unbounded // its goal says so
}

// spare is what a pod takes, by load, of nodes that no goal is about.
func (t *tracker) spare(pod cluster.PodID) []need {
	var out []need
	for amounts, room := range t.elsewhere {
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			out = append(out, need{amount, room})
		}
	}
	return out
}

// has reports whether a node has room for all of that.
func has(needs []need, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x need) bool { return x.amount > x.room[n] })
}

// loadSize is size by what the pod uses of the resources that load goals count.
func (c *search) loadSize(g *plan.Goal, p *cluster.Pod) float64 {
	var size float64
	for _, i := range c.goals.byNode[g.Node] {
		if b, ok := c.goals.at[i].(*below); ok && b.amounts.Measure.ByUsage && b.total > 0 {
			size += float64(b.amounts.Contribution(p.ID, b.node)) / float64(b.total)
		}
	}
	return size
}

// refuseUnknown gives a reason to the pods of a node that stay only because nobody
// knows what they use.
func (c *search) refuseUnknown(g int) {
	b, ok := c.goals.at[g].(*below)
	if !ok || !b.amounts.Measure.ByUsage {
		return
	}
	for _, id := range c.podsOf(g) {
		if c.refused.has(id) || c.moved[id] {
			continue
		}
		if why, unknown := c.usageUnknown(b, id); unknown {
			if more, no := c.verdict.of(id); no {
				why = more // it would stay anyway
			}
			c.refused.add(id, c.goals.list[g].Strategy, why)
		}
	}
}

// usageUnknown says that nobody knows what a pod uses, and why.
func (c *search) usageUnknown(b *below, pod cluster.PodID) (plan.Reason, bool) {
	resource, name := b.amounts.Measure.Resource, c.s.Nodes[b.node].Name
	switch b.amounts.PodQuality(pod) {
	case cluster.Unknown:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known: %s measured %s, but not the pod", resource, c.s.Usage.Raw.Source, name)}, true
	case cluster.BoundAfterSample:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known yet: it came to %s after the last sample, of %s",
			resource, name, c.s.Usage.MeasuredAt(b.node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}
