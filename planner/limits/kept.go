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
	left := func(c *Counter) int { return min(c.PerPass().Left(), c.HourlyOfCluster().Left()) }
	if k.all == 0 {
		return false
	}
	own, kept := c.OfStrategy(strategy), k.byStrategy[strategy]
	return left(c) <= k.all || kept > 0 && own != nil && left(own) <= kept
}
