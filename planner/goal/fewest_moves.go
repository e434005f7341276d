package goal

import "slices"

// FewestMovesWithin returns the same as FewestMoves if at most leaving[z] pods leave domain z and at most
// arriving[z] pods enter it. FewestMovesWithin returns false if no such moves meet s.
func FewestMovesWithin(counts, leaving, arriving []int, s int) (int, bool) {
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
	lo, hi := counts[0], counts[0]
	for _, c := range counts {
		lo, hi = min(lo, c), max(hi, c)
	}
	return hi - lo
}

// FewestMoves returns the least number of pods that must change domain. Afterwards no domain has over s pods
// more than another. The total stays constant.
//
//	min over m of max( sum over z of (c_z - m - s)+ , sum over z of (m - c_z)+ )
//
// m is the final count of the emptiest domain. At least the first sum of pods must leave, and at least the
// second sum must arrive. The larger sum suffices, because domains between m and m+s can give or take the
// difference. Both terms are monotone in m, so the minimum is where they cross. Cost: O(domains x (max -
// min)).
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
