// Package percent formats fractions as percentages for people. All messages, tables and logs use its rule: one decimal
// at most, and none if it is zero.
package percent

import (
	"cmp"
	"math"
	"strconv"
)

// Of formats a fraction with at most one decimal: 85%, 12.5%. A fraction that is close to 0 or 1 prints as <0.1% or
// >99.9%, because 0% and 100% would be wrong.
func Of(frac float64) string {
	switch r := round(frac, 1); {
	case math.IsNaN(frac) || math.IsInf(frac, 0):
		return "unknown"
	case isMisleading(frac, r) && frac < 0.5:
		return "<0.1%"
	case isMisleading(frac, r):
		return ">99.9%"
	default:
		return text(r)
	}
}

// Pair formats two fractions that a sentence compares. It adds decimals to those of Of if rounding would hide which of
// the two is larger: 90.04% and 90%.
func Pair(a, b float64) (string, string) {
	for decimals := 1; decimals <= maxDecimals; decimals++ {
		x, y := round(a, decimals), round(b, decimals)
		if !isMisleading(a, x) && !isMisleading(b, y) && cmp.Compare(x, y) == cmp.Compare(a, b) {
			return text(x), text(y)
		}
	}
	return Of(a), Of(b)
}

// maxDecimals bounds the decimals of Pair. Smaller differences are errors of floating-point arithmetic.
const maxDecimals = 6

// round returns frac in percent, rounded.
func round(frac float64, decimals int) float64 {
	return math.Round(frac*math.Pow10(2+decimals)) / math.Pow10(decimals)
}

// isMisleading reports whether rounded, in percent, reads as nothing or everything although frac is neither.
func isMisleading(frac, rounded float64) bool {
	return rounded == 0 && math.Abs(frac) > tolerance || rounded == 100 && frac < 1-tolerance
}

// tolerance is larger than the errors of floating-point arithmetic.
const tolerance = 1e-9

func text(percent float64) string {
	return strconv.FormatFloat(percent+0, 'f', -1, 64) + "%" // adding 0 removes the sign of -0
}
