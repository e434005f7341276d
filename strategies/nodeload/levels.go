package nodeload

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement/target"
)

// roundingTolerance keeps floating-point errors from making 9000m exceed 0.9 of 10000m.
const roundingTolerance = 1e-6

// resources returns the resources that have a target or a deviation, sorted.
func (a *Args) resources() []string { return sortedKeys(a.Target, a.Deviation) }

// levelField returns the argument that has the levels.
func (a *Args) levelField() string {
	if len(a.Deviation) > 0 {
		return "deviation"
	}
	return "target"
}

// measure returns the fractions that a node must not exceed, by resource, and the reason why no pod may leave a node,
// because too few nodes are under-utilized, or "". A limit that cannot be computed is absent. Means and the number of
// under-utilized nodes count the nodes to which pods may be sent: load cannot spread over others.
func (l *configuredStrategy) measure(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) (limits map[string]float64, tooFew string) {
	var open []*cluster.Node
	for _, n := range nodes {
		if target.Open(l.scope, n) {
			open = append(open, n)
		}
	}
	limits = map[string]float64{}
	for _, r := range l.args.resources() {
		if limit, ok := l.args.limit(open, amounts[r]); ok {
			limits[r] = limit
		}
	}
	return limits, l.args.tooFewUnderUtilized(open, amounts)
}

// limit returns the fraction that a node must not exceed, or false if the fraction cannot be computed.
func (a *Args) limit(nodes []*cluster.Node, amounts *cluster.Amounts) (float64, bool) {
	resource := amounts.Measure.Resource
	if len(a.Target) > 0 {
		return a.Target[resource], true
	}
	mean, ok := meanOf(nodes, amounts)
	return min(1, mean+a.Deviation[resource]), ok
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
func (a *Args) tooFewUnderUtilized(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) string {
	if len(a.Below)+len(a.BelowMean) == 0 {
		return ""
	}
	count := 0
	levels := a.lowLevels(nodes, amounts)
	for _, n := range nodes {
		if isBelow(n, levels, amounts) {
			count++
		}
	}
	if count > a.NumberOfNodes {
		return ""
	}
	found := "no node"
	if count > 0 {
		found = "only " + plural.Count(count, "node")
	}
	return fmt.Sprintf("above its target, but %s %s under-utilized; the strategy needs at least %d",
		found, plural.Choose(max(count, 1), "is", "are"), a.NumberOfNodes+1)
}

// lowLevels returns, by resource, the fraction below which a node is under-utilized.
func (a *Args) lowLevels(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) map[string]float64 {
	if len(a.Below) > 0 {
		return a.Below
	}
	levels := map[string]float64{}
	for r, distance := range a.BelowMean {
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
