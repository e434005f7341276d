package plan

import "math"

// Round rounds a float to four decimal places. Sums in different orders then print the
// same bytes.
func Round(x float64) float64 {
	r := math.Round(x*1e4) / 1e4
	if r == 0 {
		return 0 // never -0
	}
	return r
}
