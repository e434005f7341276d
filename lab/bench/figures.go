package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// figure is a table, perhaps with drawings, made of cells.
type figure struct {
	name, title string
	words       string
	table       func(cells []Cell) string
	drawings    func(cells []Cell) []drawing // nil: none
}

var figures = []figure{
	{"wanted", "What is wanted, and what came", "Medians of what was measured so far.", wantedTable, nil},
	{"cycle", "Planning: time of a cycle", `From the moment the cluster is known to the end of the cycle: the peer's second
loop of a dry run (the first is not valid: its copy of the cluster is still being
filled), Evenkeel's pass. ` + "`evenkeel-plan` is `evenkeel plan`, which also reads the\ncluster; `evenkeel-once` is the controller, `evenkeel run --once`, as dry run.",
		dryTable("seconds", cycleSeconds), overSizes("Planning: time of a cycle", "seconds", cycleSeconds)},
	{"planner", "Planning alone", "The planner with the strategies' goals, beside the peer's strategies in its\nsecond loop. Nothing limits either.",
		plannerTable, overSizes("Planning alone", "seconds", plannerSeconds)},
	{"cpu", "Planning: CPU", "All CPU time of the process, reading the cluster included; of the peer without its\nfirst loop.",
		dryTable("CPU seconds", cpuSeconds), overSizes("Planning: CPU time", "CPU seconds", cpuSeconds)},
	{"memory", "Planning: peak memory", "The most that was resident (VmHWM).", dryTable("MiB", peakMiB), overSizes("Planning: peak memory", "MiB", peakMiB)},
	{"requests", "Planning: API requests", "By the audit log; a watch counts once.", dryTable("requests", requestCount), nil},
	{"planned", "Planning: evictions planned", "", dryTable("evictions", evictionCount), overSizes("Evictions planned", "evictions", evictionCount)},
	{"live-memory", "Evicting: peak memory", "The most that was resident while a few pods were evicted; `evenkeel-dry` is the same\nrun, with the same limit, as a dry run.", liveTable, liveDrawing},
	{"real", "Evicting until quiet", "Each program is started again until it evicts nothing, at most six times; the next\nstart waits until every replacement is Ready.", realTable, realDrawings},
	{"rounds", "Evicting: every round", "", roundsTable, nil},
	{"foretold", "What the plan foretold, and what came", "After the first pass. The peer foretells nothing.", foretoldTable, histograms},
}

func cycleSeconds(c Cell) float64   { return c.CycleSeconds }
func plannerSeconds(c Cell) float64 { return c.PlannerSeconds }
func cpuSeconds(c Cell) float64     { return c.CPUSeconds }
func peakMiB(c Cell) float64        { return float64(c.PeakBytes) / (1 << 20) }
func requestCount(c Cell) float64   { return float64(c.Requests) }
func evictionCount(c Cell) float64  { return float64(c.Evictions) }

// runs are the repetitions of one measurement.
type runs []Cell

// grouped puts repetitions together, in the order in which they were first met.
func grouped(cells []Cell, phase string) []runs {
	var out []runs
	for _, c := range cells {
		if c.Phase != phase {
			continue
		}
		i := slices.IndexFunc(out, func(r runs) bool { return r[0].same(c) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// of are the figures of the runs that ended well.
func (r runs) of(f func(Cell) float64) (least, median, most float64) {
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

// failed says how many runs ended badly.
func (r runs) failed() string {
	n := 0
	for _, c := range r {
		if c.Error != "" {
			n++
		}
	}
	if n == 0 {
		return fmt.Sprint(len(r))
	}
	return fmt.Sprintf("%d, %d ended badly", len(r), n)
}

// span is "min / median / max".
func (r runs) span(f func(Cell) float64) string {
	least, median, most := r.of(f)
	if math.IsNaN(median) {
		return "-"
	}
	return number(least) + " / " + number(median) + " / " + number(most)
}

func number(v float64) string {
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

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func head(b *strings.Builder, cells ...string) {
	row(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// filled is a table, or nothing when there is nothing in it.
func filled(text string) string {
	if strings.Count(text, "\n") <= 2 {
		return ""
	}
	return text
}

func dryTable(unit string, f func(Cell) float64) func([]Cell) string {
	return func(cells []Cell) string {
		var b strings.Builder
		head(&b, "nodes/pods", "program", unit+": min / median / max", "runs")
		for _, r := range grouped(cells, dry) {
			row(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, r.span(f), r.failed())
		}
		return filled(b.String())
	}
}
