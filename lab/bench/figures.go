package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// figure is a table, and optionally drawings, computed from cells.
type figure struct {
	name, title string
	description string
	table       func(cells []Cell) string
	drawings    func(cells []Cell) []drawing // nil if there are none
}

var figures = []figure{
	{"wanted", "Goals and results", "Medians of all measurements so far.", goalTable, nil},
	{"cycle", "Planning: time of a cycle", `From a filled cache to the end of the cycle: the second loop of the descheduler in a
dry run (its cache is not yet filled in the first loop), and Evenkeel's pass. ` + "`evenkeel-plan` is `evenkeel plan`, which also reads the\ncluster; `evenkeel-once` is a dry run of the controller, `evenkeel run --once`.",
		dryTable("seconds", cycleSeconds), sizeDrawing("Planning: time of a cycle", "seconds", cycleSeconds)},
	{"planner", "Planning only", "Evenkeel's goals and planner, compared with the descheduler's strategies in its\nsecond loop. No limits apply.",
		plannerTable, sizeDrawing("Planning only", "seconds", plannerSeconds)},
	{"cpu", "Planning: CPU", "CPU time of the whole process including reading the cluster; for the descheduler\nwithout its first loop.",
		dryTable("CPU seconds", cpuSeconds), sizeDrawing("Planning: CPU time", "CPU seconds", cpuSeconds)},
	{"memory", "Planning: peak memory", "Peak resident memory (VmHWM).",
		dryTable("MiB", peakMiB), sizeDrawing("Planning: peak memory", "MiB", peakMiB)},
	{"requests", "Planning: API requests", "Counted in the audit log; a watch counts once.", dryTable("requests", requestCount), nil},
	{"planned", "Planning: evictions planned", "",
		dryTable("evictions", evictionCount), sizeDrawing("Evictions planned", "evictions", evictionCount)},
	{"live-memory", "Evicting: peak memory", "Peak resident memory while a few pods are evicted; `evenkeel-dry` is a dry run with\nthe same limit.", liveTable, liveDrawing},
	{"real", "Evicting until quiet", "Each program is restarted until it evicts nothing, at most six times. The next start\nwaits until every replacement is Ready.", realTable, realDrawings},
	{"rounds", "Evicting: every round", "", roundsTable, nil},
	{"predicted", "The plan's predictions and the results", "After the first pass. The descheduler makes no predictions.", predictionTable, histograms},
}

func cycleSeconds(c Cell) float64   { return c.CycleSeconds }
func plannerSeconds(c Cell) float64 { return c.PlannerSeconds }
func cpuSeconds(c Cell) float64     { return c.CPUSeconds }
func peakMiB(c Cell) float64        { return float64(c.PeakBytes) / (1 << 20) }
func requestCount(c Cell) float64   { return float64(c.Requests) }
func evictionCount(c Cell) float64  { return float64(c.Evictions) }

// repetitions are the repetitions of one measurement.
type repetitions []Cell

// groupRepetitions groups repetitions, in the order of their first cell.
func groupRepetitions(cells []Cell, phase string) []repetitions {
	var out []repetitions
	for _, c := range cells {
		if c.Phase != phase {
			continue
		}
		i := slices.IndexFunc(out, func(r repetitions) bool { return r[0].same(c) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// minMedianMax returns the minimum, median and maximum of a measure over the runs that succeeded.
func (r repetitions) minMedianMax(f func(Cell) float64) (least, median, most float64) {
	var all []float64
	for _, c := range r {
		if v := f(c); c.Error == "" && !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slices.Sort(all)
	n := len(all)
	return all[0], (all[(n-1)/2] + all[n/2]) / 2, all[n-1]
}

// failed returns the number of runs, and how many of them failed.
func (r repetitions) failed() string {
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

// span returns "min / median / max" of a measure.
func (r repetitions) span(f func(Cell) float64) string {
	least, median, most := r.minMedianMax(f)
	if math.IsNaN(median) {
		return "-"
	}
	return formatNumber(least) + " / " + formatNumber(median) + " / " + formatNumber(most)
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

func writeRow(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func writeHeader(b *strings.Builder, cells ...string) {
	writeRow(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// nonEmptyTable returns a table, or "" if the table has no rows.
func nonEmptyTable(text string) string {
	if strings.Count(text, "\n") <= 2 {
		return ""
	}
	return text
}

func dryTable(unit string, f func(Cell) float64) func([]Cell) string {
	return func(cells []Cell) string {
		var b strings.Builder
		writeHeader(&b, "nodes/pods", "program", unit+": min / median / max", "runs")
		for _, r := range groupRepetitions(cells, dryPhase) {
			writeRow(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, r.span(f), r.failed())
		}
		return nonEmptyTable(b.String())
	}
}
