package history

import (
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// maxClockSkew is how far the clocks of two machines may differ. Records that begin later than that are from a clock
// that was set back since.
const maxClockSkew = time.Minute

// SpentBudgetTTL is how long the API server may reserve a budget's allowance for an eviction that it refused with a
// conflict. The disruption controller drops such reservations after 2 minutes.
const SpentBudgetTTL = 2 * time.Minute

// ClampFuture moves records that begin in the future to now, and keeps how long they last. Otherwise they would hold
// until the clock is where it was. ClampFuture also returns how many records it moved. A pause keeps its time,
// because a person chose it.
func ClampFuture(st plan.PlannerState, now time.Time) (plan.PlannerState, int) {
	now = now.UTC()
	moved := 0
	clamp := func(begin *time.Time, ends ...*time.Time) {
		ahead := begin.Sub(now)
		if ahead <= maxClockSkew {
			return
		}
		moved++
		*begin = now
		for _, end := range ends {
			*end = end.Add(-ahead)
		}
	}
	st.Evictions = slices.Clone(st.Evictions)
	for i := range st.Evictions {
		e := &st.Evictions[i]
		clamp(&e.First)
		if e.Minute.Sub(now) > maxClockSkew {
			clamp(&e.Minute)
			e.Minute = now.Truncate(time.Minute)
		}
	}
	st.Evictions = mergeEvictions(st.Evictions)
	st.Backoffs = slices.Clone(st.Backoffs)
	for i := range st.Backoffs {
		clamp(&st.Backoffs[i].Since, &st.Backoffs[i].Until)
	}
	st.Background = slices.Clone(st.Background)
	for i := range st.Background {
		clamp(&st.Background[i].Since, &st.Background[i].Until)
	}
	st.Runs = slices.Clone(st.Runs)
	for i := range st.Runs {
		clamp(&st.Runs[i].Started)
		st.Runs[i].Reservations = slices.Clone(st.Runs[i].Reservations)
		for j := range st.Runs[i].Reservations {
			clamp(&st.Runs[i].Reservations[j].At)
		}
	}
	st.SpentBudgets = maps.Clone(st.SpentBudgets)
	for name, until := range st.SpentBudgets {
		if begin := until.Add(-SpentBudgetTTL); begin.Sub(now) > maxClockSkew {
			clamp(&begin, &until)
			st.SpentBudgets[name] = until
		}
	}
	if st.Breaker != nil {
		trip := *st.Breaker
		clamp(&trip.At, &trip.Until)
		st.Breaker = &trip
	}
	return st, moved
}

// mergeEvictions sorts the evictions of a state, and adds up those of one workload, minute and strategy.
func mergeEvictions(list []plan.EvictionCount) []plan.EvictionCount {
	slices.SortStableFunc(list, compareEvictions)
	var out []plan.EvictionCount
	for _, e := range list {
		if n := len(out); n > 0 && compareEvictions(out[n-1], e) == 0 {
			out[n-1].Count += e.Count
			continue
		}
		out = append(out, e)
	}
	return out
}
