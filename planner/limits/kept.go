package limits

// Kept counts evictions that the limits still allow and that goals need to be met. It counts them for all strategies
// together and by strategy. The zero value keeps none.
type Kept struct {
	all        int
	byStrategy map[int]int
}

// Add keeps evictions for a goal of the strategy.
func (k *Kept) Add(strategy, evictions int) {
	if k.byStrategy == nil {
		k.byStrategy = map[int]int{}
	}
	k.all += evictions
	k.byStrategy[strategy] += evictions
}

// LeaveNone reports whether the limits allow no more evictions for the strategy than are kept.
func (k *Kept) LeaveNone(c *Counter, strategy int) bool {
	if k.all == 0 {
		return false
	}
	own, kept := c.OfStrategy(strategy), k.byStrategy[strategy]
	return left(c) <= k.all || kept > 0 && own != nil && left(own) <= kept
}

// Allow reports whether the limits of the pass, of the hour and of the strategy allow this many evictions.
func Allow(c *Counter, strategy, evictions int) bool {
	own := c.OfStrategy(strategy)
	return evictions <= left(c) && (own == nil || evictions <= left(own))
}

// left returns the evictions that the limits of the pass and of the hour still allow.
func left(c *Counter) int { return min(c.PerPass().Left(), c.HourlyOfCluster().Left()) }
