package landings

import (
	"testing"
)

// hitDistribution returns the exact distribution of the number of hits among independent events; out[k] is the
// probability of k hits. For equal probabilities, the distribution is binomial; for unequal ones, it is narrower.
func hitDistribution(odds []float64) []float64 {
	out := []float64{1}
	for _, p := range odds {
		next := make([]float64, len(out)+1)
		for k, q := range out {
			next[k] += q * (1 - p)
			next[k+1] += q * p
		}
		out = next
	}
	return out
}

// hitInterval returns an interval that contains the number of hits with probability 1-alpha or more. The probability of
// fewer hits than low is at most alpha/2, and so is the probability of more hits than high.
func hitInterval(odds []float64, alpha float64) (low, high int) {
	dist := hitDistribution(odds)
	high = len(dist) - 1
	for below := dist[low]; below <= alpha/2; below += dist[low] {
		low++
	}
	for above := dist[high]; above <= alpha/2; above += dist[high] {
		high--
	}
	return low, high
}

// TestIntervalsAreThoseOfTables compares the intervals with tabulated quantiles of the binomial distribution.
func TestIntervalsAreThoseOfTables(t *testing.T) {
	for _, c := range []struct {
		n         int
		p, alpha  float64
		low, high int
	}{
		{10, 0.5, 0.05, 2, 8},
		{10, 0.5, 0.01, 1, 9},
		{100, 0.5, 0.01, 37, 63},
		{20, 0.1, 0.01, 0, 6},
		{5, 1, 0.01, 5, 5},
		{0, 0, 0.01, 0, 0},
	} {
		odds := make([]float64, c.n)
		for i := range odds {
			odds[i] = c.p
		}
		if low, high := hitInterval(odds, c.alpha); low != c.low || high != c.high {
			t.Errorf("interval of %d events with probability %.1f is %d to %d, want %d to %d", c.n, c.p, low, high, c.low, c.high)
		}
	}
}

// TestUnequalOddsNarrowTheInterval checks that events with probability 0 or 1 do not widen the interval.
func TestUnequalOddsNarrowTheInterval(t *testing.T) {
	var odds []float64
	for range 10 {
		odds = append(odds, 0, 1)
	}
	if low, high := hitInterval(odds, 0.01); low != 10 || high != 10 {
		t.Errorf("interval is %d to %d, want exactly 10", low, high)
	}
}
