package main

import (
	"fmt"
	"math"
	"strings"
)

// goal is an upper or lower bound on a measured value.
type goal struct {
	name  string
	bound float64
	// value computes the measured value from medians; NaN without measurements.
	value      func(all []repetitions) float64
	lowerBound bool // the value must be at least bound
}

func (w goal) row(b *strings.Builder, all []repetitions) {
	v, sign := w.value(all), "<="
	kept := v <= w.bound
	if w.lowerBound {
		sign, kept = ">=", v >= w.bound
	}
	verdict := "no"
	switch {
	case math.IsNaN(v):
		verdict = "not measured"
	case kept:
		verdict = "yes"
	}
	writeRow(b, w.name, sign+" "+formatNumber(w.bound), formatNumber(v), verdict)
}

// The cluster sizes of the goals.
var (
	realSize  = size{500, 10000}
	largeSize = size{5000, 100000}
)

// goalTable compares the measurements with this project's own goals.
func goalTable(cells []Cell) string {
	var b strings.Builder
	writeHeader(&b, "value", "goal", "measured", "met")
	if len(cells) == 0 {
		return ""
	}
	real, dryOnes, liveOnes := groupRepetitions(cells, realPhase), groupRepetitions(cells, dryPhase), groupRepetitions(cells, livePhase)
	for _, t := range targets {
		for _, w := range realGoals(t) {
			w.name = fmt.Sprintf("(%s) %s: %s", t.Name, realSize, w.name)
			w.row(&b, real)
		}
	}
	// The comparison uses peer-all, because Evenkeel also plans for both goals.
	for _, p := range []contender{evenkeelPlan, evenkeelOnce} {
		goal{name: fmt.Sprintf("%s: planning of %s, times faster than %s", largeSize, p.Name, peerAll.Name), bound: 10, lowerBound: true,
			value: ratio(dryPhase, largeSize, peerAll.Name, p.Name, plannerSeconds)}.row(&b, dryOnes)
	}
	for _, peer := range []contender{peerLoad, peerAll} {
		goal{name: fmt.Sprintf("%s: peak memory while evicting, as a fraction of %s", largeSize, peer.Name), bound: 0.5,
			value: ratio(livePhase, largeSize, evenkeelRun.Name, peer.Name, peakMiB)}.row(&b, liveOnes)
	}
	goal{name: fmt.Sprintf("%s: peak memory of a dry run, difference to the real run, %%", largeSize), bound: 10,
		value: func(all []repetitions) float64 {
			return 100 * math.Abs(ratio(livePhase, largeSize, evenkeelDryRun.Name, evenkeelRun.Name, peakMiB)(all)-1)
		}}.row(&b, liveOnes)
	return b.String()
}

// realGoals returns the goals for evicting until a round evicts nothing.
func realGoals(t target) []goal {
	of := func(f func(Cell) float64) func([]repetitions) float64 {
		return func(all []repetitions) float64 { return median(all, realPhase, realSize, t.Name, evenkeelRun.Name, f) }
	}
	goals := []goal{
		{name: "passes that evict", bound: 1, value: of(roundsWithEvictions)},
		{name: "last round evicts nothing (1: yes)", bound: 1, lowerBound: true, value: of(lastRoundQuiet)},
		{name: "declared constraints broken", bound: 0, value: of(finalValue(func(s State) float64 { return float64(s.Broken) }))},
		{name: "pods Pending", bound: 0, value: of(finalValue(func(s State) float64 { return float64(s.Pending) }))},
		{name: "zone totals, difference to the plan, %", bound: 3, value: of(func(c Cell) float64 { return c.prediction().ZonePercent })},
		{name: "histogram difference to the plan, % of nodes", bound: 3,
			value: of(func(c Cell) float64 { return c.prediction().HistogramPercent })},
	}
	if t.Deviation {
		return append(goals, goal{name: "standard deviation, %", bound: 3,
			value: of(finalValue(func(s State) float64 { return s.CPUStdDev }))})
	}
	return append(goals, sharedTargetGoals(t, of)...)
}

// sharedTargetGoals returns the goals for a target that the descheduler also supports.
func sharedTargetGoals(t target, of func(func(Cell) float64) func([]repetitions) float64) []goal {
	skewed := finalValue(func(s State) float64 { return float64(s.Skewed) })
	return []goal{
		{name: "nodes above target, without those proven unreachable, %", bound: 1, value: of(func(c Cell) float64 {
			above := finalValue(func(s State) float64 { return float64(s.NodesAbove) })(c)
			return 100 * max(0, above-float64(c.prediction().Certified)) / float64(c.Nodes)
		})},
		{name: "landings above target, %", bound: 1, value: of(finalValue(landedAbove))},
		{name: "evictions, as a fraction of peer-load", bound: 0.9, value: func(all []repetitions) float64 {
			return median(all, realPhase, realSize, t.Name, evenkeelRun.Name, evictionCount) /
				median(all, realPhase, realSize, t.Name, peerLoad.Name, evictionCount)
		}},
		{name: "skewed Deployments, minus the descheduler's minimum", bound: -1, value: func(all []repetitions) float64 {
			theirs := math.Min(median(all, realPhase, realSize, t.Name, peerLoad.Name, skewed),
				median(all, realPhase, realSize, t.Name, peerAll.Name, skewed))
			return median(all, realPhase, realSize, t.Name, evenkeelRun.Name, skewed) - theirs
		}},
	}
}

// prediction returns the predictions of the first plan; NaN if there are none.
func (c Cell) prediction() Prediction {
	if c.Prediction == nil {
		return Prediction{ZonePercent: math.NaN(), HistogramPercent: math.NaN()}
	}
	return *c.Prediction
}

// median returns the median of the runs of one measurement; NaN if there are none.
func median(all []repetitions, phase string, z size, target, program string, f func(Cell) float64) float64 {
	if r := sameConditions(all, Cell{Phase: phase, Nodes: z.nodes, Pods: z.pods, Target: target}, program); r != nil {
		return medianOf(r, f)
	}
	return math.NaN()
}

// ratio returns the quotient of two programs' medians.
func ratio(phase string, z size, over, under string, f func(Cell) float64) func([]repetitions) float64 {
	return func(all []repetitions) float64 {
		return median(all, phase, z, "a", over, f) / median(all, phase, z, "a", under, f)
	}
}
