package planner

import (
	"fmt"
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
		r[g.Resource] = s.Amounts(cluster.Measure{Resource: g.Resource}, cluster.Trust{})
	}
	return r[g.Resource]
}

func knows(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.Node(n)
	return known
}

// vouched says whether goal i can be served by a pod's going to a node: nobody can
// say of one whose use is unknown that it stays below.
func (t *tracker) vouched(i int, n cluster.NodeID) bool {
	b, ok := t.at[i].(*below)
	return !ok || !b.amounts.Measure.ByLoad || n == cluster.NoNode || knows(b.amounts, n)
}

// loadSize is size by what the pod uses of the resources that load goals count.
func (c *search) loadSize(g *plan.Goal, p *cluster.Pod) float64 {
	var size float64
	for _, i := range c.goals.byNode[g.Node] {
		if b, ok := c.goals.at[i].(*below); ok && b.amounts.Measure.ByLoad && b.total > 0 {
			size += float64(b.amounts.Of(p.ID, b.node)) / float64(b.total)
		}
	}
	return size
}

// refuseUnknown gives a reason to the pods of a node that stay only because nobody
// knows what they use.
func (c *search) refuseUnknown(g int) {
	b, ok := c.goals.at[g].(*below)
	if !ok || !b.amounts.Measure.ByLoad {
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
	switch b.amounts.Pod(pod) {
	case cluster.Unknown:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known: %s measured %s, but not the pod", resource, c.s.Load.Usage.Source, name)}, true
	case cluster.Since:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known yet: it came to %s after the last sample, of %s",
			resource, name, c.s.Load.At(b.node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}
