package quality

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// percentile returns the nearest-rank percentile: the smallest value that at least this share of
// the values does not exceed.
func percentile(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// shareAtMost returns the share of the values that are at most x.
func shareAtMost(sorted []float64, x float64) float64 {
	n := 0
	for _, v := range sorted {
		if v <= x {
			n++
		}
	}
	return float64(n) / float64(len(sorted))
}

func sum(of []float64) (all float64) {
	for _, v := range of {
		all += v
	}
	return all
}

// printMeasurements logs the distribution of each figure and the worst seeds.
func printMeasurements(t *testing.T, all []measurement) {
	table := func(name string, of func(measurement) float64) {
		var v []float64
		for _, f := range all {
			v = append(v, of(f))
		}
		slices.Sort(v)
		t.Logf("%-38s min %7.3f  p25 %7.3f  median %7.3f  p75 %7.3f  p95 %7.3f  max %7.3f", name, v[0], percentile(v, 0.25), percentile(v, 0.5),
			percentile(v, 0.75), percentile(v, 0.95), v[len(v)-1])
	}
	t.Logf("%d clusters", len(all))
	total := 0
	for _, f := range all {
		total += f.evictions
	}
	t.Logf("%d evictions in total", total)
	table("nodes", func(f measurement) float64 { return float64(f.nodes) })
	table("pods", func(f measurement) float64 { return float64(f.pods) })
	table("evictions", func(f measurement) float64 { return float64(f.evictions) })
	table("evictions / bound", measurement.ratio)
	table("evictions / bound in the plan", func(f measurement) float64 { return float64(f.evictions) / float64(max(1, f.statedBound)) })
	table("evictions - bound", func(f measurement) float64 { return float64(f.evictions - f.bound) })
	table("excess proven out of reach", func(f measurement) float64 { return f.proven })
	for _, by := range []plan.UnmetReason{plan.UnmetByScheduler, plan.UnmetNoTarget, plan.UnmetBenefitTooSmall, plan.UnmetByGuards} {
		table("excess unmet, reason "+string(by), func(f measurement) float64 { return f.unmetByReason[by] })
	}
	table("unexplained excess", func(f measurement) float64 { return f.unexplained })
	table("excess beyond the sharper proof", func(f measurement) float64 { return f.runnableElsewhere })
	table("seconds", func(f measurement) float64 { return f.took.Seconds() })
	unmet := map[string]float64{}
	for _, f := range all {
		for k, v := range f.unmet {
			unmet[k] += v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(unmet)) {
		if unmet[k] > 0 {
			t.Logf("unproven excess by goal and most frequent rejection: %-32s %8.2f", k, unmet[k])
		}
	}
	worst := func(name string, of func(measurement) float64) {
		list := slices.Clone(all)
		slices.SortStableFunc(list, func(a, b measurement) int { return cmp.Compare(of(b), of(a)) })
		for _, f := range list[:min(5, len(list))] {
			t.Logf("worst by %s: seed %d (%d nodes, %d pods): %d evictions, bound %d (in the plan %d), unexplained excess %.3f (%.3f): %s", name,
				f.seed, f.nodes, f.pods, f.evictions, f.bound, f.statedBound, f.unexplained, f.runnableElsewhere, f.why)
		}
	}
	worst("ratio", measurement.ratio)
	worst("excess", func(f measurement) float64 { return f.unexplained })
	worst("moves of a second plan", func(f measurement) float64 { return float64(f.replanMoves) })
}
