package score

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// CountSpreadPods counts the pods that match a soft spread constraint by domain. It stores the counts in a slice of
// CountsByDomain.
func CountSpreadPods(b *cycle.Scratch, slot int, rules *cycle.SpreadRules, c *cycle.SpreadConstraint) {
	d := b.ResetCounts(slot, c.Topology.Size)
	for _, x := range c.Pods.Nodes {
		if n := int(x.Node); c.CountedNodes[n] && (!rules.RequireAllKeys || rules.SoftKeyNodes[n]) {
			d[DomainOrEmpty(c.Topology, n)] += x.Pods
		}
	}
}

// SpreadTerm returns the term of one constraint. The product is rounded before the addition, so
// every processor computes the same sum.
func SpreadTerm(pods int32, weight float64, maxSkew int64) float64 {
	return float64(float64(pods)*weight) + float64(maxSkew-1)
}

// DomainOrEmpty returns the domain of a node; 0 if it has none.
func DomainOrEmpty(t *model.Topology, n int) int32 {
	return max(t.Domain[n], 0)
}

// ScaleToRange scales v from the range least..most to 0..MaxScore. The result is 0 if least equals most.
func ScaleToRange(v, least, most int64) int64 {
	if most <= least {
		return 0
	}
	return int64(float64(scheduler.MaxScore) * (float64(v-least) / float64(most-least)))
}
