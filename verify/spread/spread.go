// Package spread measures how unevenly pods are spread over the values of a node label. The verifiers share it, and it
// shares no code with the planner.
package spread

import "slices"

// Moves returns the fewest pods that must change their value until the counts differ by at most skew. The counts must
// not be empty.
func Moves(counts []int, skew int) int {
	best := -1
	for least := range slices.Max(counts) + 1 {
		leave, arrive := 0, 0
		for _, n := range counts {
			leave += max(0, n-least-skew)
			arrive += max(0, least-n)
		}
		if moves := max(leave, arrive); best < 0 || moves < best {
			best = moves
		}
	}
	return best
}
