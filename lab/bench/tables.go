package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// planningMeasures are the columns of planningTable.
var planningMeasures = []struct {
	column      string
	value       func(Measurement) float64
	name, title string // of the drawing; empty for none
	unit        string
}{
	{"seconds, start to report", reportSeconds, "", "", ""},
	{"seconds, cycle", cycleSeconds, "cycle", "Planning: time of a cycle", "seconds"},
	{"seconds, planning", plannerSeconds, "planner", "Planning only", "seconds"},
	{"CPU seconds", cpuSeconds, "cpu", "Planning: CPU time", "CPU seconds"},
	{"MiB", peakMiB, "memory", "Planning: peak memory", "MiB"},
	{"evictions", evictionCount, "planned", "Evictions planned", "evictions"},
}

// planningTable shows the dry runs, and how many times faster Evenkeel plans than the descheduler.
func planningTable(measurements []Measurement) string {
	header := []string{"nodes/pods", "program"}
	for _, m := range planningMeasures {
		header = append(header, m.column)
	}
	var rows [][]string
	all := groupRepetitions(measurements, dryPhase)
	for _, r := range all {
		row := []string{r[0].size().String(), r[0].Program}
		for _, m := range planningMeasures {
			row = append(row, r.formatRange(m.value))
		}
		for _, p := range []contender{peerLoad, peerAll} {
			faster := "-"
			if theirs := findRepetitions(all, r[0], p.Name); theirs != nil && !r[0].isPeer() {
				faster = formatNumber(theirs.summarize(plannerSeconds).Mid / r.summarize(plannerSeconds).Mid)
			}
			row = append(row, faster)
		}
		rows = append(rows, append(row, r.describeRunCount()))
	}
	return renderTable(append(header, "times faster than peer-load", "than peer-all", "runs"), rows)
}

// liveMemoryTable compares the memory of runs that evict.
func liveMemoryTable(measurements []Measurement) string {
	header := []string{"nodes/pods", "program", "evictions", "MiB", "of peer-load", "of peer-all", "API requests", "runs"}
	var rows [][]string
	all := groupRepetitions(measurements, livePhase)
	for _, r := range all {
		var part [2]string
		for i, p := range []contender{peerLoad, peerAll} {
			part[i] = "-"
			if theirs := findRepetitions(all, r[0], p.Name); theirs != nil && r[0].Program != p.Name {
				part[i] = formatNumber(r.summarize(peakMiB).Mid / theirs.summarize(peakMiB).Mid)
			}
		}
		rows = append(rows, []string{r[0].size().String(), r[0].Program, r.formatRange(evictionCount),
			r.formatRange(peakMiB), part[0], part[1], r.formatRange(requestCount), r.describeRunCount()})
	}
	return renderTable(header, rows)
}

// findRepetitions returns the runs of another program under the same conditions as c; nil if there are none.
func findRepetitions(all []repetitions, c Measurement, program string) repetitions {
	for _, r := range all {
		if c.Program = program; r[0].isRepetitionOf(c) {
			return r
		}
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// lastImbalance returns the state after the last round of a real run; nil if no round has ended.
func (c Measurement) lastImbalance() *Imbalance {
	if len(c.Rounds) == 0 {
		return nil
	}
	return c.Rounds[len(c.Rounds)-1].After
}

// valueAfterLastRound reads a value from the state after a real run.
func valueAfterLastRound(f func(Imbalance) float64) func(Measurement) float64 {
	return func(c Measurement) float64 {
		if s := c.lastImbalance(); s != nil {
			return f(*s)
		}
		return 0
	}
}

// roundsWithEvictions counts the rounds with evictions.
func roundsWithEvictions(c Measurement) float64 {
	n := 0
	for _, r := range c.Rounds {
		if r.Evictions > 0 {
			n++
		}
	}
	return float64(n)
}

func landedAbove(s Imbalance) float64 {
	if s.Landed == 0 {
		return 0
	}
	return 100 * float64(s.LandedAbove) / float64(s.Landed)
}

// valueOfFirstPlan reads a value of the first plan; NaN for the descheduler.
func valueOfFirstPlan(f func(Prediction) int) func(Measurement) float64 {
	return func(c Measurement) float64 {
		if c.Prediction == nil {
			return math.NaN()
		}
		return float64(f(*c.Prediction))
	}
}

// landedAsPredictedPercent returns the percentage of the first round's evictions that landed as predicted.
func landedAsPredictedPercent(c Measurement) float64 {
	if c.Prediction == nil || len(c.Rounds) == 0 || c.Rounds[0].Evictions == 0 {
		return math.NaN()
	}
	return 100 * float64(c.Rounds[0].LandedAsPredicted) / float64(c.Rounds[0].Evictions)
}

// lastRoundEvictedNothing returns 1 if the last round evicted nothing, otherwise 0.
func lastRoundEvictedNothing(c Measurement) float64 {
	if n := len(c.Rounds); n > 0 && c.Rounds[n-1].Evictions == 0 {
		return 1
	}
	return 0
}

// realRows are the rows of realTable.
var realRows = []struct {
	name  string
	value func(Measurement) float64
	drawn string // name of the drawing; empty for none
	unit  string // unit in the drawing
}{
	{"evictions", evictionCount, "evictions", "evictions"},
	{"rounds with evictions", roundsWithEvictions, "", ""},
	{"last round evicts nothing (1: yes)", lastRoundEvictedNothing, "", ""},
	{"evictions/s in waves, round 1", func(c Measurement) float64 {
		if len(c.Rounds) == 0 || c.Rounds[0].PerSecond == 0 {
			return math.NaN() // no wave is large enough
		}
		return c.Rounds[0].PerSecond
	}, "", ""},
	{"evictions/s, first to last, round 1", func(c Measurement) float64 {
		if len(c.Rounds) == 0 {
			return 0
		}
		return c.Rounds[0].OverallRate
	}, "", ""},
	{"seconds, all rounds", func(c Measurement) float64 { return c.Seconds }, "", ""},
	{"CPU seconds", cpuSeconds, "", ""},
	{"peak memory, MiB", peakMiB, "", ""},
	{"API requests", requestCount, "", ""},
	{"standard deviation of CPU share, %", valueAfterLastRound(func(s Imbalance) float64 { return s.CPUStdDev }),
		"deviation", "percent of allocatable"},
	{"nodes above target", valueAfterLastRound(func(s Imbalance) float64 { return float64(s.NodesAbove) }), "above", "nodes"},
	{"nodes whose target is proven unreachable", valueOfFirstPlan(func(f Prediction) int { return f.Certified }), "", ""},
	{"lower bound on evictions (from the plan)", valueOfFirstPlan(func(f Prediction) int { return f.MinEvictions }), "", ""},
	{"Deployments skewed across zones", valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Skewed) }), "skewed", "Deployments"},
	{"of these, with a required spread constraint", valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Broken) }), "", ""},
	{"landings above target, %", valueAfterLastRound(landedAbove), "", ""},
	{"landed as predicted in round 1, %", landedAsPredictedPercent, "", ""},
	{"pods Pending", valueAfterLastRound(func(s Imbalance) float64 { return float64(s.Pending) }), "", ""},
}

// evictionRunTable shows the runs that evict, with one part per cluster and one column per target and program.
func evictionRunTable(measurements []Measurement) string {
	var b strings.Builder
	var sizes []clusterSize
	all := groupRepetitions(measurements, realPhase)
	for _, r := range all {
		if z := r[0].size(); !slices.Contains(sizes, z) {
			sizes = append(sizes, z)
		}
	}
	for i, z := range sizes {
		if i > 0 {
			b.WriteString("\n")
		}
		writeEvictionRuns(&b, z, slices.DeleteFunc(slices.Clone(all), func(r repetitions) bool { return r[0].size() != z }))
	}
	return b.String()
}

func writeEvictionRuns(b *strings.Builder, z clusterSize, columns []repetitions) {
	fmt.Fprintf(b, "### %s nodes/pods\n\n", z)
	if s := columns[0][0].Start; s != nil {
		fmt.Fprintf(b, "At the start, pods request an average of %.1f%% of the CPU across nodes,\nwith a standard deviation of %.1f%%. %d "+
			"Deployments are skewed across zones.\nOf these Deployments, %d have a required spread constraint.\n\n",
			s.CPUMean, s.CPUStdDev, s.Skewed, s.Broken)
	}
	titles, counts, above := []string{""}, []string{"runs"}, []string{"nodes above target at the start"}
	for _, r := range columns {
		titles, counts = append(titles, fmt.Sprintf("(%s) %s", r[0].Target, r[0].Program)), append(counts, r.describeRunCount())
		above = append(above, r.formatRange(func(c Measurement) float64 {
			if c.Start == nil {
				return math.NaN()
			}
			return float64(c.Start.NodesAbove)
		}))
	}
	rows := [][]string{above}
	for _, line := range realRows {
		values := []string{line.name}
		for _, r := range columns {
			values = append(values, r.formatRange(line.value))
		}
		rows = append(rows, values)
	}
	b.WriteString(renderTable(titles, append(rows, counts)))
}

// roundsTable shows every round of every real run.
func roundsTable(measurements []Measurement) string {
	header := []string{"nodes/pods", "target", "program", "run", "round", "evictions", "seconds", "1/s",
		"standard deviation, %", "above", "skewed", "Pending", "load average before, after"}
	var rows [][]string
	for _, c := range measurements {
		if c.Phase != realPhase {
			continue
		}
		for i, r := range c.Rounds {
			rows = append(rows, []string{c.size().String(), c.Target, c.Program, fmt.Sprint(c.Run), fmt.Sprint(i + 1),
				fmt.Sprint(r.Evictions), formatNumber(r.Seconds), formatNumber(r.OverallRate),
				formatNumber(r.After.CPUStdDev), fmt.Sprint(r.After.NodesAbove), fmt.Sprint(r.After.Skewed),
				fmt.Sprint(r.After.Pending), r.LoadBefore + ", " + r.LoadAfter})
		}
	}
	return renderTable(header, rows)
}

func predictionTable(measurements []Measurement) string {
	header := []string{"nodes/pods", "target", "run", "moves planned", "evicted",
		"largest zone difference, %", "nodes in another step of the histogram, %", "actual standard deviation, %"}
	var rows [][]string
	for _, c := range measurements {
		if c.Phase != realPhase || c.Prediction == nil || len(c.Rounds) == 0 {
			continue
		}
		f := c.Prediction
		rows = append(rows, []string{c.size().String(), c.Target, fmt.Sprint(c.Run), fmt.Sprint(f.Moves), fmt.Sprint(c.Rounds[0].Evictions),
			formatNumber(f.ZonePercent), formatNumber(f.HistogramPercent), formatNumber(c.Rounds[0].After.CPUStdDev)})
	}
	return renderTable(header, rows)
}

func dryRunTable(unit string, f func(Measurement) float64) func([]Measurement) string {
	return func(measurements []Measurement) string {
		header := []string{"nodes/pods", "program", unit, "runs"}
		var rows [][]string
		for _, r := range groupRepetitions(measurements, dryPhase) {
			rows = append(rows, []string{r[0].size().String(), r[0].Program, r.formatRange(f), r.describeRunCount()})
		}
		return renderTable(header, rows)
	}
}
