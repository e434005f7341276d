package nodeload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement/target"
)

// roundingTolerance keeps floating-point errors from making 9000m exceed 0.9 of 10000m.
const roundingTolerance = 1e-6

// pool is a Pool with its selector. Its levels are those of Args for the nodes of no other pool.
type pool struct {
	Pool
	selector labels.Selector // nil selects all nodes
	path     string          // of the arguments, such as "pools[0].", or ""
}

// newPools returns the pools of the arguments, and then a pool for all other nodes.
func newPools(a *Args) []pool {
	var out []pool
	for i, p := range a.Pools {
		selector, err := labels.Parse(p.NodeSelector)
		if err != nil {
			selector = labels.Nothing() // checkPools reports this
		}
		out = append(out, pool{p, selector, fmt.Sprintf("pools[%d].", i)})
	}
	return append(out, pool{Pool: Pool{Target: a.Target, Deviation: a.Deviation, Below: a.Below, BelowMean: a.BelowMean,
		NumberOfNodes: a.NumberOfNodes}})
}

// resources returns the resources that have a target or a deviation in the pool, sorted.
func (p *pool) resources() []string { return sortedKeys(p.Target, p.Deviation) }

// levelField returns the argument that has the levels of the pool.
func (p *pool) levelField() string {
	if len(p.Deviation) > 0 {
		return "deviation"
	}
	return "target"
}

// watchName returns the name under which the source of usage counts the samples above the levels of the pool.
func (l *configuredStrategy) watchName(p *pool) string {
	if p.selector == nil {
		return l.name
	}
	return l.name + " nodes " + p.NodeSelector
}

// measuredPool is what is measured of the nodes of one pool.
type measuredPool struct {
	// limits are the fractions that a node must not exceed, by resource. A limit that cannot be computed is absent.
	limits map[string]float64
	// tooFew is the reason why no pod may leave a node, because too few nodes are under-utilized, or "".
	tooFew string
	watch  string
}

// measurePools measures each pool, and the index of the pool of each node. Means and the number of
// under-utilized nodes count the nodes to which pods may be sent: load cannot spread over others.
func (l *configuredStrategy) measurePools(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) (measured []measuredPool, byNode []int) {
	members := make([][]*cluster.Node, len(l.pools))
	byNode = make([]int, len(nodes))
	for i, n := range nodes {
		for p := range l.pools {
			if s := l.pools[p].selector; s == nil || s.Matches(labels.Set(n.Object.Labels)) {
				byNode[i] = p
				if target.Open(l.scope, n) {
					members[p] = append(members[p], n)
				}
				break
			}
		}
	}
	for i := range l.pools {
		p := &l.pools[i]
		of := measuredPool{limits: map[string]float64{}, tooFew: p.tooFewUnderUtilized(members[i], amounts), watch: l.watchName(p)}
		for _, r := range p.resources() {
			if limit, ok := p.limit(members[i], amounts[r]); ok {
				of.limits[r] = limit
			}
		}
		measured = append(measured, of)
	}
	return measured, byNode
}

// limit returns the fraction that a node must not exceed, or false if the fraction cannot be computed.
func (p *pool) limit(nodes []*cluster.Node, a *cluster.Amounts) (float64, bool) {
	resource := a.Measure.Resource
	if len(p.Target) > 0 {
		return p.Target[resource], true
	}
	mean, ok := meanOf(nodes, a)
	return min(1, mean+p.Deviation[resource]), ok
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
func (p *pool) tooFewUnderUtilized(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) string {
	if len(p.Below)+len(p.BelowMean) == 0 {
		return ""
	}
	count := 0
	levels := p.lowLevels(nodes, amounts)
	for _, n := range nodes {
		if isBelow(n, levels, amounts) {
			count++
		}
	}
	if count > p.NumberOfNodes {
		return ""
	}
	found := "no node"
	if count > 0 {
		found = "only " + plural.Count(count, "node")
	}
	if p.selector != nil {
		found += " of " + p.NodeSelector
	}
	return fmt.Sprintf("above its target, but %s %s under-utilized; the strategy needs at least %d",
		found, plural.Choose(max(count, 1), "is", "are"), p.NumberOfNodes+1)
}

// lowLevels returns, by resource, the fraction below which a node is under-utilized.
func (p *pool) lowLevels(nodes []*cluster.Node, amounts map[string]*cluster.Amounts) map[string]float64 {
	if len(p.Below) > 0 {
		return p.Below
	}
	levels := map[string]float64{}
	for r, distance := range p.BelowMean {
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
