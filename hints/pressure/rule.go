package pressure

import "math"

// Rule says when a node is under pressure.
type Rule struct {
	Name string
	// Resource is the compared quantity: cpu or memory, as a fraction of allocatable, or any other
	// name, as the measured value in its own unit.
	Resource string
	// Query is the PromQL that measures Resource; empty if the source measures Resource itself.
	Query string
	// Enter is the level that a value must exceed to become hot. Leave is the level at which
	// the pressure ends. If Below is set, a value exceeds a level by being less.
	Enter, Leave float64
	Below        bool
	// MinSamples is the number of consecutive samples that must exceed Enter.
	MinSamples int
}

// watchPrefix distinguishes rules from strategies, whose names contain no slash.
const watchPrefix = "hints/"

// WatchName returns the name under which the marks of the rule are stored.
func (r Rule) WatchName() string { return watchPrefix + r.Name }

// severity returns how far a value is beyond Enter, as a ratio: 1 at the level, and more
// beyond it. A ratio makes rules with different units comparable. If Enter is 0 or less,
// severity is 1 plus the distance.
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
