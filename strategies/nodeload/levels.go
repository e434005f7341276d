package nodeload

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// roundingTolerance keeps floating-point errors from making 9000m exceed 0.9 of 10000m.
const roundingTolerance = 1e-6

// limit returns the fraction that a node must not exceed, or false if the fraction cannot be computed.
func (l *Strategy) limit(nodes []*cluster.Node, a *cluster.Amounts) (float64, bool) {
	resource := a.Measure.Resource
	if len(l.args.Target) > 0 {
		return l.args.Target[resource], true
	}
	mean, ok := meanOf(nodes, a)
	return min(1, mean+l.args.Deviation[resource]), ok
}

// meanOf returns the total usage divided by the total allocatable of the nodes whose usage is known, or false if there
// are no such nodes.
func meanOf(nodes []*cluster.Node, a *cluster.Amounts) (float64, bool) {
	var sum, total float64
	for _, n := range nodes {
		used, _, known := a.NodeUsed(n.ID)
		if allocatable := a.Total(n.ID); known && allocatable > 0 {
			sum += float64(used)
			total += float64(allocatable)
		}
	}
	if total == 0 {
		return 0, false
	}
	return sum / total, true
}

// tooFewUnderUtilized returns the reason why no pod may leave a node if too few nodes are under-utilized, and "" if
// there are enough.
func (l *Strategy) tooFewUnderUtilized(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) string {
	if len(l.args.Below)+len(l.args.BelowMean) == 0 {
		return ""
	}
	count := 0
	levels := l.lowLevels(nodes, amounts)
	for _, n := range nodes {
		if !n.Object.Spec.Unschedulable && isBelow(n, levels, amounts) {
			count++
		}
	}
	if count > l.args.NumberOfNodes {
		return ""
	}
	found := "no node"
	if count > 0 {
		found = "only " + plural.Count(count, "node")
	}
	return fmt.Sprintf("above its target, but %s %s under-utilized; the strategy needs at least %d",
		found, plural.Choose(max(count, 1), "is", "are"), l.args.NumberOfNodes+1)
}

// lowLevels returns, by resource, the fraction below which a node is under-utilized.
func (l *Strategy) lowLevels(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) map[string]float64 {
	if len(l.args.Below) > 0 {
		return l.args.Below
	}
	levels := map[string]float64{}
	for r, distance := range l.args.BelowMean {
		mean, _ := meanOf(nodes, amounts[r])
		levels[r] = mean - distance
	}
	return levels
}

// isBelow reports whether the node is below the level of each resource. A node without the resource, or with unknown
// usage, is not. Usage that is only estimated counts.
func isBelow(n *cluster.Node, levels map[string]float64, amounts map[string]*cluster.Amounts) bool {
	for r, level := range levels {
		used, _, known := amounts[r].NodeUsed(n.ID)
		total := amounts[r].Total(n.ID)
		if !known || total == 0 || float64(used) >= level*float64(total)-roundingTolerance {
			return false
		}
	}
	return true
}
