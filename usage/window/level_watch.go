package window

import "math"

// LevelWatch is a level that a hint rule, or a strategy with `for`, watches on each node.
//
// For consecutive samples beyond Enter make a node hot; a sample at Enter or within it resets the count.
// A hot node stays hot until a sample is at Leave or within it.
//
// Each measurement counts once, by its own value and not by the statistic over the window. A sample
// without the node does not change the count. If the node is missing for MaxAge, its usage is
// unknown and it has no mark. Counting then starts again with the next measurement.
type LevelWatch struct {
	// Name is the name of the strategy or rule.
	Name     string
	Resource string
	// Enter and Leave are fractions of allocatable for cpu and memory, bytes for
	// memory.available, and the value itself for a query.
	Enter, Leave float64
	// Below means that lower values are beyond the level, as for available memory.
	Below bool
	// Deviation means that Enter and Leave are relative to the mean of all known nodes in
	// scope. The mean is their total usage divided by their total allocatable.
	Deviation bool
	// For is the number of consecutive samples beyond Enter that make a node hot. Less than 1 means
	// 1.
	For int
}

func (w *LevelWatch) requiredSamples() int { return max(w.For, 1) }

// watchState is the state of a node relative to one watch.
type watchState struct {
	at    int64 // time of the last counted measurement; 0: none
	since int64
	value float64 // value of that measurement
	count int
	hot   bool
	// settled means that the node has been hot or clearly not hot since counting began.
	settled bool
}

func (s *watchState) update(w *LevelWatch, at int64, v float64, maxAge int64) {
	if s.at != 0 && at-s.at > maxAge {
		*s = watchState{value: s.value}
	}
	s.at = at
	enter, leave := w.Enter, w.Leave
	if w.Below {
		v, enter, leave = -v, -enter, -leave
	}
	if exceeds(v, enter) {
		if s.count == 0 && !s.hot {
			s.since = at
		}
		if s.count = min(s.count+1, w.requiredSamples()); s.count == w.requiredSamples() {
			s.hot, s.settled = true, true
		}
		return
	}
	s.count = 0
	if !exceeds(v, leave) {
		s.hot, s.settled = false, true
	}
}

// exceeds reports v > limit with a tolerance for binary fractions: 29 of 100 is not above 0.29.
func exceeds(v, limit float64) bool {
	return v-limit > 1e-9*max(math.Abs(v), math.Abs(limit))
}
