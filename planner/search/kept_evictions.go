package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// keptEvictions are evictions that the limits allow and that goals need to be met: goals that have moves already, and
// wait for the next wave. It counts them for all strategies together and by strategy.
type keptEvictions struct {
	all        int
	byStrategy map[int]int
}

// keepFor keeps the evictions that goal g still needs, if it has moves.
func (k *keptEvictions) keepFor(c *goalSearch, g int) {
	if c.Goals.Excess(g) >= c.Goals.InitialExcess[g] {
		return
	}
	if k.byStrategy == nil {
		k.byStrategy = map[int]int{}
	}
	n := c.movesLeft(g)
	k.all += n
	k.byStrategy[c.StrategyOf(g)] += n
}

// leaveNone reports whether goal g has no moves and needs several, and the limits allow no more evictions than other
// goals keep. A goal that one move meets is worth the eviction as much as the last move of another goal.
func (k *keptEvictions) leaveNone(c *goalSearch, g int) bool {
	if k.all == 0 || c.Goals.Excess(g) < c.Goals.InitialExcess[g] {
		return false
	}
	return k.areAllLeft(c, g) && c.movesLeft(g) > 1
}

// areAllLeft reports whether the limits allow no more evictions for goal g than other goals keep.
func (k *keptEvictions) areAllLeft(c *goalSearch, g int) bool {
	if min(c.Limits.PerPass().Left(), c.Limits.HourlyOfCluster().Left()) <= k.all {
		return true
	}
	kept := k.byStrategy[c.StrategyOf(g)]
	own := c.Limits.OfStrategy(c.StrategyOf(g))
	return kept > 0 && own != nil && min(own.PerPass().Left(), own.HourlyOfCluster().Left()) <= kept
}

// movesLeft estimates how many moves goal g needs until it is met.
func (c *goalSearch) movesLeft(g int) int {
	excess := c.Goals.Excess(g)
	b, ok := c.Goals.Measures[g].(*goal.NodeMeasure)
	if !ok {
		return int(excess)
	}
	largest := int64(1)
	for _, id := range c.PodsOf(g) {
		if !c.Moved[id] && c.NodeOf(id) != cluster.NoNode {
			largest = max(largest, b.Amounts.Contribution(id, b.Node))
		}
	}
	return int((excess + largest - 1) / largest)
}
