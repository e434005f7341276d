package usage

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Unit is the unit of a number that a source gives.
type Unit int

// Units of values. A Reading stores cpu in milliCPU, memory in bytes, and any other value in millionths.
const (
	Cores    Unit = iota // of cpu
	Bytes                // of memory
	Share                // 0..1 of the node's cpu or memory capacity; stored as an amount
	Fraction             // 0..1 of what the query measures
	Number               // any number, in the unit of the query's user
)

const (
	// A share between minPercent and maxPercent must be a percentage. The values of other nodes are
	// then percentages too, and 0.9 % must not be read as 90 %. The whole answer is rejected. A
	// value above maxPercent is not a percentage, so only this value is rejected.
	minPercent = 2
	maxPercent = 100 * cluster.MaxPlausibleFrac
	// negativeTolerance allows for the rounding error of subtracting two equal sums.
	negativeTolerance = -1e-6
	// maxAmount limits plain numbers, and amounts of nodes with unknown capacity, so that their
	// millionths fit 63 bits. In bytes the limit is about 8 TiB.
	maxAmount = 9.2e12
)

func (u Unit) isRatio() bool { return u == Share || u == Fraction }

// maxPlausible returns the maximum plausible value for a node with that capacity, in milliCPU or bytes.
func (u Unit) maxPlausible(capacity float64) float64 {
	switch {
	case u.isRatio():
		return cluster.MaxPlausibleFrac
	case u == Cores && capacity > 0:
		return capacity / 1000 * cluster.MaxPlausibleFrac
	case u == Bytes && capacity > 0:
		return capacity * cluster.MaxPlausibleFrac
	}
	return maxAmount
}

// check returns the reason why a value is unusable. An empty kind means that the value is usable.
func (u Unit) check(v, capacity float64) (ProblemKind, string) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return NotANumber, "not a finite number for"
	case u == Number && math.Abs(v) > maxAmount:
		return Implausible, "the number is too large for"
	case u == Number:
		return "", ""
	case v < negativeTolerance:
		return Implausible, "negative for"
	case v > u.maxPlausible(capacity) && u.isRatio():
		return Implausible, "far above 1 (want 0..1) for"
	case v > u.maxPlausible(capacity):
		return Implausible, "far above the capacity of"
	case u == Share && capacity <= 0:
		return Missing, "the value is a share, but the capacity is unknown for"
	}
	return "", ""
}

// amount converts a checked value to the units of a Reading.
func (u Unit) amount(v, capacity float64) int64 {
	switch u {
	case Cores:
		v *= 1000
	case Share:
		v *= capacity
	case Fraction, Number:
		v *= 1e6
	}
	if u != Number {
		v = max(v, 0)
	}
	return int64(math.Round(v))
}
