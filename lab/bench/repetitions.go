package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/lab/bench/chart"
)

func cycleSeconds(c Measurement) float64 { return c.CycleSeconds }

// reportSeconds is the time from the start to the end of Evenkeel; NaN for the descheduler, which runs two loops.
func reportSeconds(c Measurement) float64 {
	if c.isPeer() {
		return math.NaN()
	}
	return c.Seconds
}

func plannerSeconds(c Measurement) float64 { return c.PlannerSeconds }

func cpuSeconds(c Measurement) float64 { return c.CPUSeconds }

func peakMiB(c Measurement) float64 { return float64(c.PeakBytes) / (1 << 20) }

func requestCount(c Measurement) float64 { return float64(c.Requests) }

func evictionCount(c Measurement) float64 { return float64(c.Evictions) }

// repetitions are the repetitions of one measurement.
type repetitions []Measurement

// groupRepetitions groups the measurements of a phase that differ only in the number of the run.
func groupRepetitions(measurements []Measurement, phase string) []repetitions {
	var out []repetitions
	for _, c := range measurements {
		if c.Phase != phase {
			continue
		}
		i := slices.IndexFunc(out, func(r repetitions) bool { return r[0].isRepetitionOf(c) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// summarize returns the minimum, median and maximum of a measure over the runs that succeeded; NaN without such runs.
func (r repetitions) summarize(f func(Measurement) float64) chart.Bar {
	var all []float64
	for _, c := range r {
		if v := f(c); c.Error == "" && !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	n := len(all)
	if n == 0 {
		return chart.Bar{Low: math.NaN(), Mid: math.NaN(), High: math.NaN()}
	}
	slices.Sort(all)
	return chart.Bar{Low: all[0], Mid: (all[(n-1)/2] + all[n/2]) / 2, High: all[n-1]}
}

// describeRunCount returns the number of runs, and how many of them failed.
func (r repetitions) describeRunCount() string {
	n := 0
	for _, c := range r {
		if c.Error != "" {
			n++
		}
	}
	if n == 0 {
		return fmt.Sprint(len(r))
	}
	return fmt.Sprintf("%d, %d failed", len(r), n)
}

// formatRange returns "median (min-max)" of a measure, or one number if all are equal.
func (r repetitions) formatRange(f func(Measurement) float64) string {
	b := r.summarize(f)
	if math.IsNaN(b.Mid) {
		return "-"
	}
	if b.Low == b.High {
		return formatNumber(b.Mid)
	}
	return fmt.Sprintf("%s (%s-%s)", formatNumber(b.Mid), formatNumber(b.Low), formatNumber(b.High))
}

func formatNumber(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// renderTable returns a Markdown table; empty if there are no rows.
func renderTable(header []string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	rule := slices.Repeat([]string{"---"}, len(header))
	fmt.Fprintf(&b, "| %s |\n|%s|\n", strings.Join(header, " | "), strings.Join(rule, "|"))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}
