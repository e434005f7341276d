package main

import (
	"fmt"
	"math"
)

// measurementGoal is an upper or lower bound on a measured value.
type measurementGoal struct {
	name  string
	bound float64
	// value computes the measured value from medians; NaN without measurements.
	value      func(all []repetitions) float64
	lowerBound bool // the value must be at least bound
}

func (w measurementGoal) row(all []repetitions) []string {
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
	return []string{w.name, sign + " " + formatNumber(w.bound), formatNumber(v), verdict}
}

// The cluster sizes of the goals.
var (
	realSize  = clusterSize{500, 10000}
	largeSize = clusterSize{5000, 100000}
)

// goalTable compares the measurements with this project's own goals.
func goalTable(measurements []Measurement) string {
	var rows [][]string
	if len(measurements) == 0 {
		return ""
	}
	real, dryOnes := groupRepetitions(measurements, realPhase), groupRepetitions(measurements, dryPhase)
	liveOnes := groupRepetitions(measurements, livePhase)
	for _, t := range targets {
		for _, w := range realGoals(t) {
			w.name = fmt.Sprintf("(%s) %s: %s", t.Name, realSize, w.name)
			rows = append(rows, w.row(real))
		}
	}
	// The comparison uses peer-all, because Evenkeel also plans for both goals.
	for _, p := range []contender{evenkeelPlan, evenkeelOnce} {
		rows = append(rows, measurementGoal{
			name:  fmt.Sprintf("%s: planning of %s, times faster than %s", largeSize, p.Name, peerAll.Name),
			bound: 10, lowerBound: true,
			value: ratioOfMedians(dryPhase, largeSize, peerAll.Name, p.Name, plannerSeconds)}.row(dryOnes))
	}
	for _, peer := range []contender{peerLoad, peerAll} {
		rows = append(rows, measurementGoal{
			name: fmt.Sprintf("%s: peak memory while evicting, as a fraction of %s", largeSize, peer.Name), bound: 0.5,
			value: ratioOfMedians(livePhase, largeSize, evenkeelRun.Name, peer.Name, peakMiB)}.row(liveOnes))
	}
	rows = append(rows, measurementGoal{
		name: fmt.Sprintf("%s: peak memory of a dry run, difference to the real run, %%", largeSize), bound: 10,
		value: func(all []repetitions) float64 {
			return 100 * math.Abs(ratioOfMedians(livePhase, largeSize, evenkeelDryRun.Name, evenkeelRun.Name, peakMiB)(all)-1)
		}}.row(liveOnes))
	return renderTable([]string{"value", "goal", "measured", "met"}, rows)
}

// realGoals returns the goals for evicting until a round evicts nothing.
func realGoals(t balanceTarget) []measurementGoal {
	of := func(f func(Measurement) float64) func([]repetitions) float64 {
		return func(all []repetitions) float64 {
			return medianOfProgram(all, realPhase, realSize, t.Name, evenkeelRun.Name, f)
		}
	}
	goals := []measurementGoal{
		{name: "passes that evict", bound: 1, value: of(roundsWithEvictions)},
		{name: "last round evicts nothing (1: yes)", bound: 1, lowerBound: true, value: of(lastRoundEvictedNothing)},
		{name: "declared constraints broken", bound: 0, value: of(valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Broken) }))},
		{name: "pods Pending", bound: 0, value: of(valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Pending) }))},
		{name: "zone totals, difference to the plan, %", bound: 3,
			value: of(func(c Measurement) float64 { return c.predictionOrNaN().ZonePercent })},
		{name: "histogram difference to the plan, % of nodes", bound: 3,
			value: of(func(c Measurement) float64 { return c.predictionOrNaN().HistogramPercent })},
	}
	if t.Deviation {
		return append(goals, measurementGoal{name: "standard deviation, %", bound: 3,
			value: of(valueAfterLastRound(func(s Imbalance) float64 { return s.CPUStdDev }))})
	}
	return append(goals, sharedTargetGoals(t, of)...)
}

// sharedTargetGoals returns the goals for a target that the descheduler also supports.
func sharedTargetGoals(t balanceTarget, of func(func(Measurement) float64) func([]repetitions) float64) []measurementGoal {
	skewed := valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Skewed) })
	return []measurementGoal{
		{name: "nodes above target, without those proven unreachable, %", bound: 1, value: of(func(c Measurement) float64 {
			above := valueAfterLastRound(func(s Imbalance) float64 { return float64(s.NodesAbove) })(c)
			return 100 * max(0, above-float64(c.predictionOrNaN().Certified)) / float64(c.Nodes)
		})},
		{name: "landings above target, %", bound: 1, value: of(valueAfterLastRound(landedAbove))},
		{name: "evictions, as a fraction of peer-load", bound: 0.9, value: func(all []repetitions) float64 {
			return medianOfProgram(all, realPhase, realSize, t.Name, evenkeelRun.Name, evictionCount) /
				medianOfProgram(all, realPhase, realSize, t.Name, peerLoad.Name, evictionCount)
		}},
		{name: "skewed Deployments, minus the descheduler's minimum", bound: -1, value: func(all []repetitions) float64 {
			theirs := math.Min(medianOfProgram(all, realPhase, realSize, t.Name, peerLoad.Name, skewed),
				medianOfProgram(all, realPhase, realSize, t.Name, peerAll.Name, skewed))
			return medianOfProgram(all, realPhase, realSize, t.Name, evenkeelRun.Name, skewed) - theirs
		}},
	}
}

// predictionOrNaN returns the predictions of the first plan; NaN if there are none.
func (c Measurement) predictionOrNaN() Prediction {
	if c.Prediction == nil {
		return Prediction{ZonePercent: math.NaN(), HistogramPercent: math.NaN()}
	}
	return *c.Prediction
}

// medianOfProgram returns the median of the runs of one measurement; NaN if there are none.
func medianOfProgram(all []repetitions, phase string, z clusterSize, target, program string, f func(Measurement) float64) float64 {
	if r := findRepetitions(all, Measurement{Phase: phase, Nodes: z.nodes, Pods: z.pods, Target: target}, program); r != nil {
		return r.summarize(f).Mid
	}
	return math.NaN()
}

// ratioOfMedians returns the quotient of two programs' medians.
func ratioOfMedians(phase string, z clusterSize, over, under string, f func(Measurement) float64) func([]repetitions) float64 {
	return func(all []repetitions) float64 {
		return medianOfProgram(all, phase, z, "a", over, f) / medianOfProgram(all, phase, z, "a", under, f)
	}
}
