package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// measurementGoal is an upper or lower bound on a measured value.
type measurementGoal struct {
	name  string
	bound float64
	// value computes the measured value from medians; NaN without measurements.
	value      func(all []repetitions) float64
	lowerBound bool // the value must be at least bound
}

// limit returns the bound with its sign.
func (w measurementGoal) limit() string {
	if w.lowerBound {
		return ">= " + formatNumber(w.bound)
	}
	return "<= " + formatNumber(w.bound)
}

// result returns the measured value, and whether it is within the bound.
func (w measurementGoal) result(all []repetitions) string {
	v := w.value(all)
	switch {
	case math.IsNaN(v):
		return "not measured"
	case w.lowerBound && v >= w.bound || !w.lowerBound && v <= w.bound:
		return formatNumber(v) + ", yes"
	}
	return formatNumber(v) + ", no"
}

// largeSize is the cluster of the goals for planning and memory.
var largeSize = clusterSize{5000, 100000, ""}

// realSize returns the cluster of the goals for evicting.
func (t balanceTarget) realSize() clusterSize { return clusterSize{500, 10000, t.shape} }

// goalTable compares the measurements with this project's own goals: first those for evicting, with one column per
// target, then those for planning and memory.
func goalTable(measurements []Measurement) string {
	all := groupRepetitions(measurements, realPhase)
	header, rows := []string{"evicting until quiet", "goal"}, [][]string(nil)
	for _, t := range targets {
		z := t.realSize()
		if findRepetitions(all, Measurement{Phase: realPhase, Nodes: z.nodes, Pods: z.pods, Cluster: z.shape, Target: t.Name},
			evenkeelRun.Name) == nil {
			continue // not measured
		}
		header = append(header, fmt.Sprintf("(%s) %s", t.Name, z))
		for _, w := range realGoals(t) {
			i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == w.name })
			if i < 0 {
				i, rows = len(rows), append(rows, []string{w.name, w.limit()})
			}
			for len(rows[i]) < len(header)-1 { // this goal is not one of the targets before
				rows[i] = append(rows[i], "")
			}
			rows[i] = append(rows[i], w.result(all))
		}
	}
	for i := range rows {
		rows[i] = append(rows[i], make([]string, len(header)-len(rows[i]))...)
	}
	tables := []string{renderTable(header, rows), largeGoalTable(measurements)}
	return strings.Join(slices.DeleteFunc(tables, func(s string) bool { return s == "" }), "\n")
}

// largeGoalTable compares planning and memory with the goals for a large cluster.
func largeGoalTable(measurements []Measurement) string {
	var rows [][]string
	dryOnes, liveOnes := groupRepetitions(measurements, dryPhase), groupRepetitions(measurements, livePhase)
	if !slices.ContainsFunc(measurements, func(c Measurement) bool { return c.Phase != realPhase && c.size() == largeSize }) {
		return "" // not measured
	}
	add := func(all []repetitions, w measurementGoal) {
		rows = append(rows, []string{w.name, w.limit(), w.result(all)})
	}
	// Evenkeel plans for both goals, as peer-all does.
	for _, peer := range []struct {
		name   string
		faster float64
	}{{peerLoad.Name, 1}, {peerAll.Name, 10}} {
		for _, p := range []contender{evenkeelPlan, evenkeelOnce} {
			add(dryOnes, measurementGoal{name: fmt.Sprintf("planning of %s, times faster than %s", p.Name, peer.name),
				bound: peer.faster, lowerBound: true, value: ratioOfMedians(dryPhase, peer.name, p.Name, plannerSeconds)})
		}
		add(dryOnes, measurementGoal{name: "evictions planned, as a fraction of " + peer.name, bound: 1,
			value: ratioOfMedians(dryPhase, evenkeelPlan.Name, peer.name, evictionCount)})
		add(liveOnes, measurementGoal{name: "peak memory while evicting, as a fraction of " + peer.name, bound: 0.5,
			value: ratioOfMedians(livePhase, evenkeelRun.Name, peer.name, peakMiB)})
	}
	add(liveOnes, measurementGoal{name: "peak memory of a dry run, as a fraction of the real run", bound: 1.1,
		value: ratioOfMedians(livePhase, evenkeelDryRun.Name, evenkeelRun.Name, peakMiB)})
	return renderTable([]string{largeSize.String(), "goal", "measured"}, rows)
}

// realGoals returns the goals for evicting until a round evicts nothing.
func realGoals(t balanceTarget) []measurementGoal {
	of := func(f func(Measurement) float64) func([]repetitions) float64 {
		return func(all []repetitions) float64 {
			return medianOfProgram(all, realPhase, t.realSize(), t.Name, evenkeelRun.Name, f)
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
	median := func(all []repetitions, p contender, f func(Measurement) float64) float64 {
		return medianOfProgram(all, realPhase, t.realSize(), t.Name, p.Name, f)
	}
	more := func(f func(Imbalance) float64) func([]repetitions) float64 { // than the descheduler's minimum
		return func(all []repetitions) float64 {
			after := valueAfterLastRound(f)
			return median(all, evenkeelRun, after) - math.Min(median(all, peerLoad, after), median(all, peerAll, after))
		}
	}
	above := func(s Imbalance) float64 { return float64(s.NodesAbove) }
	near := measurementGoal{name: "nodes above target, without those proven unreachable, %", bound: 1, value: of(func(c Measurement) float64 {
		return 100 * max(0, valueAfterLastRound(above)(c)-float64(c.predictionOrNaN().Certified)) / float64(c.Nodes)
	})}
	if t.shape == mixedShape { // few GPUs are free, so some targets cannot be met, and not each of them has a proof
		near = measurementGoal{name: "nodes above target, minus the descheduler's minimum", bound: 0, value: more(above)}
	}
	return []measurementGoal{
		near,
		{name: "landings above target, %", bound: 1, value: of(valueAfterLastRound(landedAbove))},
		{name: "evictions, as a fraction of peer-load", bound: 0.9, value: func(all []repetitions) float64 {
			return median(all, evenkeelRun, evictionCount) / median(all, peerLoad, evictionCount)
		}},
		{name: "skewed Deployments, minus the descheduler's minimum", bound: -1,
			value: more(func(s Imbalance) float64 { return float64(s.Skewed) })},
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
	if r := findRepetitions(all, Measurement{Phase: phase, Nodes: z.nodes, Pods: z.pods, Cluster: z.shape, Target: target}, program); r != nil {
		return r.summarize(f).Mid
	}
	return math.NaN()
}

// ratioOfMedians returns the quotient of two programs' medians in the large cluster.
func ratioOfMedians(phase, over, under string, f func(Measurement) float64) func([]repetitions) float64 {
	return func(all []repetitions) float64 {
		return medianOfProgram(all, phase, largeSize, "a", over, f) / medianOfProgram(all, phase, largeSize, "a", under, f)
	}
}
