package pressure

import "math"

// Rule says when a node is under pressure.
type Rule struct {
	Name string
	// Resource is what is compared: cpu or memory, as a fraction of allocatable; or
	// any other, as the value that is measured, in its own unit.
	Resource string
	// Query is the PromQL that measures Resource; empty where a source knows it by
	// itself.
	Query string
	// Enter is the level that must be exceeded, Leave the one at which pressure is
	// over. Where Below is set, exceeded means less than.
	Enter, Leave float64
	Below        bool
	// MinSamples is how many samples in a row must exceed Enter.
	MinSamples int
}

// watchPrefix keeps rules apart from strategies, whose names have no slash.
const watchPrefix = "hints/"

// WatchName is the name under which the rule's marks are found.
func (r Rule) WatchName() string { return watchPrefix + r.Name }

// severity is how far a value is beyond the level, as a ratio: 1 at the level, more the
// further beyond, so that rules of different units can be compared. A level of 0 or
// less has no ratio; there the distance is added to 1.
func (r Rule) severity(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return 1
	case r.Enter <= 0:
		d := v - r.Enter
		if r.Below {
			d = -d
		}
		return max(1+d, 0)
	case !r.Below:
		return max(v/r.Enter, 0)
	case v <= 0:
		return math.MaxFloat64
	}
	return r.Enter / v
}
