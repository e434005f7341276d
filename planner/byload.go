package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// requestAmounts holds the requests of all pods, by resource: what a goal counts that
// does not say otherwise.
type requestAmounts map[string]*cluster.Amounts

func (r requestAmounts) of(s *cluster.Snapshot, g plan.Goal) *cluster.Amounts {
	if g.Amounts != nil {
		return g.Amounts
	}
	if r[g.Resource] == nil {
		r[g.Resource] = s.Amounts(cluster.Measure{Resource: g.Resource}, cluster.UsageRequirements{})
	}
	return r[g.Resource]
}

func usageKnown(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}

// usageKnownAt says whether goal i can be served by a pod's going to a node: nobody can
// say of one whose use is unknown that it stays below, and one that no goal is about,
// since it is excluded or out of scope, is not to be overloaded instead.
func (t *Tracker) usageKnownAt(i int, pod cluster.PodID, n cluster.NodeID) bool {
	b, ok := t.Measures[i].(*NodeMeasure)
	return !ok || !b.Amounts.Measure.ByUsage || n == cluster.NoNode || usageKnown(b.Amounts, n) && HasRoom(t.RoomNeededOutsideGoals(pod), n)
}

// addUsageHeadroom notes which nodes are known, and how much more may come to those that no
// goal is about.
func (t *Tracker) addUsageHeadroom(b *NodeMeasure, limit float64) {
	if t.KnownUsage[b.Amounts] == nil {
		known, room := make([]int64, len(t.snapshot.Nodes)), make([]int64, len(t.snapshot.Nodes))
		for i := range t.snapshot.Nodes {
			room[i] = Unbounded
			if used, _, ok := b.Amounts.NodeUsed(cluster.NodeID(i)); ok {
				known[i] = Unbounded
				room[i] = int64(limit*float64(b.Amounts.Total(cluster.NodeID(i)))+Rounding) - used
			}
		}
		t.KnownUsage[b.Amounts], t.roomOutsideGoals[b.Amounts] = known, room
	}
	t.roomOutsideGoals[b.Amounts][b.Node] = Unbounded // its goal says so
}

// RoomNeededOutsideGoals is what a pod takes, by load, of nodes that no goal is about.
func (t *Tracker) RoomNeededOutsideGoals(pod cluster.PodID) []RoomNeed {
	var out []RoomNeed
	for amounts, room := range t.roomOutsideGoals {
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			out = append(out, RoomNeed{amount, room})
		}
	}
	return out
}

// HasRoom reports whether a node has room for all of that.
func HasRoom(needs []RoomNeed, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x RoomNeed) bool { return x.amount > x.room[n] })
}

// usageSize is size by what the pod uses of the resources that load goals count.
func (c *Search) usageSize(g *plan.Goal, p *cluster.Pod) float64 {
	var size float64
	for _, i := range c.Goals.ByNode[g.Node] {
		if b, ok := c.Goals.Measures[i].(*NodeMeasure); ok && b.Amounts.Measure.ByUsage && b.Total > 0 {
			size += float64(b.Amounts.Contribution(p.ID, b.Node)) / float64(b.Total)
		}
	}
	return size
}

// rejectUnknownUsage gives a reason to the pods of a node that stay only because nobody
// knows what they use.
func (c *Search) rejectUnknownUsage(g int) {
	b, ok := c.Goals.Measures[g].(*NodeMeasure)
	if !ok || !b.Amounts.Measure.ByUsage {
		return
	}
	for _, id := range c.PodsOf(g) {
		if c.Rejections.has(id) || c.Moved[id] {
			continue
		}
		if why, unknown := c.usageUnknown(b, id); unknown {
			if more, no := c.Eligibility.Refuse(id); no {
				why = more // it would stay anyway
			}
			c.Rejections.add(id, c.Goals.Goals[g].Strategy, why)
		}
	}
}

// usageUnknown says that nobody knows what a pod uses, and why.
func (c *Search) usageUnknown(b *NodeMeasure, pod cluster.PodID) (plan.Reason, bool) {
	resource, name := b.Amounts.Measure.Resource, c.Snapshot.Nodes[b.Node].Name
	switch b.Amounts.PodQuality(pod) {
	case cluster.Unknown:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known: %s measured %s, but not the pod", resource, c.Snapshot.Usage.Raw.Source, name)}, true
	case cluster.BoundAfterSample:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known yet: it came to %s after the last sample, of %s",
			resource, name, c.Snapshot.Usage.MeasuredAt(b.Node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}
