package pressure

import "math"

// Rule says when a node is under pressure.
type Rule struct {
	Name string
	// Resource is the measured quantity. Values of cpu and memory are fractions of allocatable;
	// values of other resources have their own units.
	Resource string
	// Query is the PromQL that measures Resource; empty if the source measures Resource itself.
	Query string
	// A node becomes hot if its value exceeds Enter, and stays hot until the value reaches Leave.
	// If Below is set, lower values mean more pressure.
	Enter, Leave float64
	Below        bool
	// MinSamples is the number of consecutive samples that must exceed Enter.
	MinSamples int
}

// watchPrefix distinguishes rules from strategies, whose names contain no slash.
const watchPrefix = "hints/"

// WatchName returns the name of the usage watch that evaluates the rule.
func (r Rule) WatchName() string { return watchPrefix + r.Name }

// severity returns how far a value is beyond Enter, as a ratio: 1 at the level, and more beyond it.
// A ratio makes rules with different units comparable. If Enter is 0 or less, severity is 1 plus
// the distance from Enter.
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
