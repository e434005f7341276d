package lowerbound

import "math"

// Share is the amount by which a pod's eviction reduces the need with this index, in the unit of the
// need.
type Share struct {
	Need   int32
	Amount float64
}

// Shares holds the shares of many pods.
type Shares struct {
	all  []Share
	ends []int32
}

// Add appends the shares of one pod. It ignores a pod without shares.
func (s *Shares) Add(of ...Share) {
	if len(of) > 0 {
		s.all = append(s.all, of...)
		s.ends = append(s.ends, int32(len(s.all)))
	}
}

// The steps towards the best prices. After 300 the bound is within a tenth of an
// eviction of that after 3,000 in clusters of up to 200 nodes; visits keeps the time
// for the largest clusters at some tens of milliseconds.
const (
	maxSteps     = 300
	maxVisits    = 20_000_000
	maxIdleSteps = 15 // steps without a better bound before the step length is halved
	// rounding is the largest error of the sums.
	rounding = 1e-6
)

// WeightedBound is a number of pods that no set falls short of whose leaving covers every
// need; most is how many do. It knows sizes, where Fewest counts pods alone.
//
// It is the dual of a linear programme. With a price on each need, a set that covers
// all of them costs, pod by pod, at least what its shares are worth, so that
//
//	fewest >= sum of prices x needs - sum over pods (worth of its shares - 1)+
//
// whatever the prices: a pod that is worth more than 1 counts as 1. Any prices prove
// a bound, and those on the way to the best ones (steps along the subgradient, of the
// length of Polyak 1969) soon prove nearly all that can be proven. Products are
// rounded by themselves, so that every machine gets the same bytes.
func WeightedBound(needs []float64, pods *Shares, most int) int {
	if len(needs) == 0 || len(pods.ends) == 0 {
		return 0
	}
	prices, slope := make([]float64, len(needs)), make([]float64, len(needs))
	for i, n := range needs {
		prices[i] = 0.5 / max(1, n)
	}
	best, pace, idle := 0.0, 1.0, 0
	for range min(maxSteps, 1+maxVisits/len(pods.all)) {
		value := pods.bound(needs, prices, slope)
		if idle++; value > best+rounding {
			best, idle = value, 0
		} else if idle > maxIdleSteps {
			pace, idle = pace/2, 0
		}
		var norm float64
		for i, g := range slope {
			if prices[i] > 0 || g > 0 {
				norm += float64(g * g)
			}
		}
		if norm < rounding || float64(most) <= value {
			break
		}
		length := pace * (float64(most) - value) / norm
		for i, g := range slope {
			prices[i] = max(0, prices[i]+float64(length*g))
		}
	}
	return min(most, int(math.Ceil(best-rounding)))
}

// bound returns the lower bound that the prices prove. It stores the subgradient in slope.
func (s *Shares) bound(needs, prices, slope []float64) (value float64) {
	for i, n := range needs {
		value += float64(prices[i] * n)
		slope[i] = n
	}
	from := int32(0)
	for _, end := range s.ends {
		of := s.all[from:end]
		from = end
		beyond := -1.0
		for _, x := range of {
			beyond += float64(prices[x.Need] * x.Amount)
		}
		if beyond > 0 {
			value -= beyond
			for _, x := range of {
				slope[x.Need] -= x.Amount
			}
		}
	}
	return value
}
