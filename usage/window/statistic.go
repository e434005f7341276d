package window

import (
	"math"
	"slices"
)

// Statistic is a statistic over the samples in a window.
type Statistic string

// The supported statistics. The standard deviation is always reported in addition. Percentiles are interpolated,
// and deviations are population standard deviations, as in quantile_over_time and stddev_over_time of
// Prometheus.
const (
	Latest Statistic = "latest"
	Mean   Statistic = "mean"
	P90    Statistic = "p90"
	P95    Statistic = "p95"
	Max    Statistic = "max"
)

// Statistics returns all statistics.
func Statistics() []Statistic { return []Statistic{Latest, Mean, P90, P95, Max} }

// compute returns the statistic of the values, which must be in the order of measurement and not empty. compute
// may reorder the values.
func (s Statistic) compute(values []int64) int64 {
	switch s {
	case Mean:
		return int64(math.Round(mean(values)))
	case P90:
		return quantile(values, 0.90)
	case P95:
		return quantile(values, 0.95)
	case Max:
		return slices.Max(values)
	}
	return values[len(values)-1]
}

func mean(values []int64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

// deviation returns the population standard deviation.
func deviation(values []int64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		d := float64(v) - m
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(values)))
}

// quantile interpolates between the two values at rank q x (n-1).
func quantile(values []int64, q float64) int64 {
	slices.Sort(values)
	rank := q * float64(len(values)-1)
	low := int(rank)
	if low+1 >= len(values) {
		return values[len(values)-1]
	}
	part := rank - float64(low)
	return int64(math.Round(float64(values[low])*(1-part) + float64(values[low+1])*part))
}
