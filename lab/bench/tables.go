package main

import (
	"fmt"
	"math"
	"strings"
)

// plannerTable adds how many times faster than the peer each program is. The
// peer's slower and faster set of strategies are both named.
func plannerTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "program", "seconds: min / median / max", "µs per pod", "times faster than peer-load", "than peer-all", "runs")
	all := grouped(cells, dry)
	for _, r := range all {
		ours := medianOf(r, plannerSeconds)
		var faster [2]string
		for i, p := range []contender{peerLoad, peerAll} {
			faster[i] = "-"
			if theirs := alongside(all, r[0], p.Name); theirs != nil && !strings.HasPrefix(r[0].Program, "peer") {
				faster[i] = number(medianOf(theirs, plannerSeconds) / ours)
			}
		}
		row(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, r.span(plannerSeconds), number(1e6*ours/float64(r[0].Pods)), faster[0], faster[1], r.failed())
	}
	return filled(b.String())
}

// liveTable sets the memory of a run that evicts beside that of the others.
func liveTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "program", "evictions", "MiB", "of peer-load's", "of peer-all's", "API requests", "ended well")
	all := grouped(cells, live)
	for _, r := range all {
		var part [2]string
		for i, p := range []contender{peerLoad, peerAll} {
			part[i] = "-"
			if theirs := alongside(all, r[0], p.Name); theirs != nil && r[0].Program != p.Name {
				part[i] = number(medianOf(r, peakMiB) / medianOf(theirs, peakMiB))
			}
		}
		row(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, fmt.Sprint(r[0].Evictions), number(medianOf(r, peakMiB)), part[0], part[1], fmt.Sprint(r[0].Requests), ended(r[0]))
	}
	return filled(b.String())
}

// alongside are the runs of another program that were measured under the same
// conditions as those of c; nil when there are none.
func alongside(all []runs, c Cell, program string) runs {
	for _, r := range all {
		if c.Program = program; r[0].same(c) {
			return r
		}
	}
	return nil
}

func medianOf(r runs, f func(Cell) float64) float64 {
	_, median, _ := r.of(f)
	return median
}

func ended(c Cell) string {
	if c.Error != "" {
		return "no: " + strings.ReplaceAll(firstLine(c.Error), "|", "/")
	}
	return "yes"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// last is the state that a real run left; nil when no round was ended.
func (c Cell) last() *State {
	if len(c.Rounds) == 0 {
		return nil
	}
	return c.Rounds[len(c.Rounds)-1].After
}

// left reads a figure off the state that a real run left.
func left(f func(State) float64) func(Cell) float64 {
	return func(c Cell) float64 {
		if s := c.last(); s != nil {
			return f(*s)
		}
		return 0
	}
}

// busy counts the rounds that evicted something.
func busy(c Cell) float64 {
	n := 0
	for _, r := range c.Rounds {
		if r.Evictions > 0 {
			n++
		}
	}
	return float64(n)
}

func landedAbove(s State) float64 {
	if s.Landed == 0 {
		return 0
	}
	return 100 * float64(s.LandedAbove) / float64(s.Landed)
}

// ofPlan reads a figure off the first plan; the peer has none.
func ofPlan(f func(Foretold) int) func(Cell) float64 {
	return func(c Cell) float64 {
		if c.Foretold == nil {
			return math.NaN()
		}
		return float64(f(*c.Foretold))
	}
}

// landedAsPredicted is of the evictions of the first round.
func landedAsPredicted(c Cell) float64 {
	if c.Foretold == nil || len(c.Rounds) == 0 || c.Rounds[0].Evictions == 0 {
		return math.NaN()
	}
	return 100 * float64(c.Rounds[0].LandedAsPredicted) / float64(c.Rounds[0].Evictions)
}

// quiet is 1 when the last round evicted nothing.
func quiet(c Cell) float64 {
	if n := len(c.Rounds); n > 0 && c.Rounds[n-1].Evictions == 0 {
		return 1
	}
	return 0
}

// realLines are the lines of the table of real runs.
var realLines = []struct {
	name  string
	value func(Cell) float64
	drawn string // the name of its drawing; empty: none
	unit  string // in the drawing
}{
	{"evictions", evictionCount, "evictions", "evictions"},
	{"rounds that evicted", busy, "", ""},
	{"quiet in the end (1: yes)", quiet, "", ""},
	{"evictions/s in waves, round 1", func(c Cell) float64 {
		if len(c.Rounds) == 0 || c.Rounds[0].PerSecond == 0 {
			return math.NaN() // no wave is large enough to tell
		}
		return c.Rounds[0].PerSecond
	}, "", ""},
	{"evictions/s, first to last, round 1", func(c Cell) float64 {
		if len(c.Rounds) == 0 {
			return 0
		}
		return c.Rounds[0].Overall
	}, "", ""},
	{"seconds, all rounds", func(c Cell) float64 { return c.Seconds }, "", ""},
	{"CPU seconds", cpuSeconds, "", ""},
	{"peak memory, MiB", peakMiB, "", ""},
	{"API requests", requestCount, "", ""},
	{"standard deviation of CPU share, %", left(func(s State) float64 { return s.CPUStdDev }), "deviation", "percent of allocatable"},
	{"nodes above target", left(func(s State) float64 { return float64(s.NodesAbove) }), "above", "nodes"},
	{"nodes that the plan says must stay above", ofPlan(func(f Foretold) int { return f.Certified }), "", ""},
	{"fewest evictions (the plan's proven bound)", ofPlan(func(f Foretold) int { return f.MinEvictions }), "", ""},
	{"Deployments skewed over zones", left(func(s State) float64 { return float64(s.Skewed) }), "skewed", "Deployments"},
	{"of these, though declared otherwise", left(func(s State) float64 { return float64(s.Broken) }), "", ""},
	{"landings above target, %", left(landedAbove), "", ""},
	{"landed as foretold in round 1, %", landedAsPredicted, "", ""},
	{"pods Pending", left(func(s State) float64 { return float64(s.Pending) }), "", ""},
}

// realTable has a part per target and a column per program.
func realTable(cells []Cell) string {
	var b strings.Builder
	all := grouped(cells, full)
	for _, t := range targets {
		done := map[size]bool{}
		for _, r := range all {
			z := size{r[0].Nodes, r[0].Pods}
			if r[0].Target != t.Name || done[z] {
				continue
			}
			done[z] = true
			realPart(&b, t, z, all)
		}
	}
	return filled(b.String())
}

func realPart(b *strings.Builder, t target, z size, all []runs) {
	var columns []runs
	for _, r := range all {
		if r[0].Target == t.Name && r[0].Nodes == z.nodes && r[0].Pods == z.pods {
			columns = append(columns, r)
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "Target (%s): %s; %s nodes/pods. Min / median / max.\n\n", t.Name, t.Words, z)
	if s := columns[0][0].Start; s != nil {
		fmt.Fprintf(b, "At the start: mean CPU %.1f %%, standard deviation %.1f %%, %d nodes above target,\n%d Deployments skewed over zones, %d of them though declared otherwise.\n\n",
			s.CPUMean, s.CPUStdDev, s.NodesAbove, s.Skewed, s.Broken)
	}
	titles := []string{""}
	for _, r := range columns {
		titles = append(titles, r[0].Program)
	}
	head(b, titles...)
	for _, line := range realLines {
		values := []string{line.name}
		for _, r := range columns {
			values = append(values, r.span(line.value))
		}
		row(b, values...)
	}
	counts := []string{"runs"}
	for _, r := range columns {
		counts = append(counts, r.failed())
	}
	row(b, counts...)
}

// roundsTable shows each round of the first run of each program.
func roundsTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "target", "program", "run", "round", "evictions", "seconds", "1/s", "standard deviation, %", "above", "skewed", "Pending", "load average before, after")
	for _, c := range cells {
		if c.Phase != full {
			continue
		}
		for i, r := range c.Rounds {
			row(&b, size{c.Nodes, c.Pods}.String(), c.Target, c.Program, fmt.Sprint(c.Run), fmt.Sprint(i+1), fmt.Sprint(r.Evictions), number(r.Seconds), number(r.Overall),
				number(r.After.CPUStdDev), fmt.Sprint(r.After.NodesAbove), fmt.Sprint(r.After.Skewed), fmt.Sprint(r.After.Pending), r.LoadBefore+", "+r.LoadAfter)
		}
	}
	return filled(b.String())
}

func foretoldTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "target", "run", "moves planned", "evicted", "zone totals off by, %", "nodes in another step of the histogram, %", "standard deviation came, %")
	for _, c := range cells {
		if c.Phase != full || c.Foretold == nil || len(c.Rounds) == 0 {
			continue
		}
		f := c.Foretold
		row(&b, size{c.Nodes, c.Pods}.String(), c.Target, fmt.Sprint(c.Run), fmt.Sprint(f.Moves), fmt.Sprint(c.Rounds[0].Evictions),
			number(f.ZonePercent), number(f.HistogramPercent), number(c.Rounds[0].After.CPUStdDev))
	}
	return filled(b.String())
}
