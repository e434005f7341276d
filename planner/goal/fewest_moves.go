package goal

import "slices"

// FewestMovesWithDomainLimits is FewestMoves, except that at most leaving[z] pods leave domain z and at most
// arriving[z] pods enter domain z. The result is false if no such moves meet s.
func FewestMovesWithDomainLimits(counts, leaving, arriving []int, s int) (int, bool) {
	best, found := 0, false
	for m := slices.Min(counts); m <= slices.Max(counts); m++ {
		out, in, spare, room, ok := 0, 0, 0, 0, true
		for z, c := range counts {
			give, take := max(0, c-m-s), max(0, m-c)
			ok = ok && give <= leaving[z] && take <= arriving[z]
			out += give
			in += take
			spare += max(0, min(leaving[z], c-m))
			room += max(0, min(arriving[z], m+s-c))
		}
		if n := max(out, in); ok && spare >= in && room >= out && (!found || n < best) {
			best, found = n, true
		}
	}
	return best, found
}

// Spread returns the largest count minus the smallest.
func Spread(counts []int) int {
	return slices.Max(counts) - slices.Min(counts)
}

// FewestMoves returns the least number of pods that must change domain. Afterwards, the pod counts of two domains
// differ by at most s. The total number of pods stays constant.
//
//	min over m of max( sum over z of (c_z - m - s)+ , sum over z of (m - c_z)+ )
//
// In the formula, m is the final count of the emptiest domain. The first sum counts pods that must leave their
// domains. The second sum counts pods that must arrive. The larger sum suffices, because domains between m and m+s
// can give or take the difference. Both sums are monotone in m, so the minimum is where the sums cross. Cost:
// O(domains x (max - min)).
func FewestMoves(counts []int, s int) int {
	lo, hi := counts[0], counts[0]
	for _, c := range counts {
		lo, hi = min(lo, c), max(hi, c)
	}
	if hi-lo <= s {
		return 0
	}
	best := -1
	for m := lo; m <= hi; m++ {
		out, in := 0, 0
		for _, c := range counts {
			out += max(0, c-m-s)
			in += max(0, m-c)
		}
		n := max(out, in)
		if best >= 0 && n >= best {
			return best
		}
		best = n
	}
	return best
}
