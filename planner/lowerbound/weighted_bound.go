package lowerbound

import "math"

// A needShare is the amount by which a pod's eviction reduces a need, in the unit of the need.
type needShare struct {
	Need   int32
	Amount float64
}

// podShares holds the shares of many pods. The shares of pod i end before ends[i].
type podShares struct {
	all  []needShare
	ends []int32
}

// The subgradient method is limited by the following constants. In clusters of up to 200 nodes, the bound after 300
// steps is within 0.1 evictions of the bound after 3,000 steps. maxVisits keeps the time for the largest clusters
// below 100 ms.
const (
	maxSteps     = 300
	maxVisits    = 20_000_000
	maxIdleSteps = 15 // steps without a better bound before the step length is halved
	// rounding is the largest rounding error of the sums.
	rounding = 1e-6
)

// weightedBound returns a lower bound on the pods whose evictions meet every need. The parameter most is the number
// of pods of a known solution. Unlike CountBound, weightedBound uses the sizes of the pods.
//
// The bound is the dual of a linear program. The following bound holds for any non-negative prices of the needs:
//
//	fewest >= sum(price x need) - sum over pods of max(0, value of the pod's shares - 1)
//
// The value of a share is its price times its amount. Every choice of prices proves a bound. weightedBound improves
// the prices by the subgradient method with Polyak's step length (1969). Each product is rounded separately, so that
// every machine returns the same result.
func weightedBound(needs []float64, pods *podShares, most int) int {
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
		if norm < rounding || best-rounding > float64(most-1) {
			break
		}
		length := pace * (float64(most) - value) / norm
		for i, g := range slope {
			prices[i] = max(0, prices[i]+float64(length*g))
		}
	}
	return min(most, int(math.Ceil(best-rounding)))
}

// bound returns the lower bound that the prices prove, and stores the subgradient in slope.
func (s *podShares) bound(needs, prices, slope []float64) (value float64) {
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
