package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/evenkeel-project/evenkeel/lab/bench/chart"
)

// plannerTable adds how many times faster than the peer each program is. The
// peer's slower and faster set of strategies are both named.
func plannerTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "program", "seconds: min / median / max", "times faster than peer-load", "than peer-all", "runs")
	all := grouped(cells, dry)
	for _, r := range all {
		var faster [2]string
		for i, p := range []contender{peerLoad, peerAll} {
			faster[i] = "-"
			for _, other := range all {
				if other[0].Nodes == r[0].Nodes && other[0].Pods == r[0].Pods && other[0].Program == p.Name && !strings.HasPrefix(r[0].Program, "peer") {
					_, theirs, _ := other.of(plannerSeconds)
					_, ours, _ := r.of(plannerSeconds)
					faster[i] = number(theirs / ours)
				}
			}
		}
		row(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, r.span(plannerSeconds), faster[0], faster[1], r.failed())
	}
	return filled(b.String())
}

// liveTable sets the memory of a run that evicts beside that of dry runs.
func liveTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "nodes/pods", "program", "evictions", "MiB, evicting", "MiB, dry (median)", "ended well")
	planned := grouped(cells, dry)
	for _, r := range grouped(cells, live) {
		same := r[0].Program
		if same == evenkeelRun.Name {
			same = evenkeelOnce.Name
		}
		beside := "not measured"
		for _, d := range planned {
			if d[0].Nodes == r[0].Nodes && d[0].Pods == r[0].Pods && d[0].Program == same {
				_, median, _ := d.of(peakMiB)
				beside = number(median)
			}
		}
		row(&b, size{r[0].Nodes, r[0].Pods}.String(), r[0].Program, fmt.Sprint(r[0].Evictions), number(peakMiB(r[0])), beside, ended(r[0]))
	}
	return filled(b.String())
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

// realLines are the lines of the table of real runs.
var realLines = []struct {
	name  string
	value func(Cell) float64
	chart string // its name in the chart; empty: it is not there
}{
	{"evictions", evictionCount, "evictions"},
	{"rounds that evicted", busy, ""},
	{"quiet in the end (1: yes)", func(c Cell) float64 {
		if n := len(c.Rounds); n > 0 && c.Rounds[n-1].Evictions == 0 {
			return 1
		}
		return 0
	}, ""},
	{"evictions/s in waves, round 1", func(c Cell) float64 {
		if len(c.Rounds) == 0 || c.Rounds[0].PerSecond == 0 {
			return math.NaN() // no wave is large enough to tell
		}
		return c.Rounds[0].PerSecond
	}, ""},
	{"evictions/s, first to last, round 1", func(c Cell) float64 {
		if len(c.Rounds) == 0 {
			return 0
		}
		return c.Rounds[0].Overall
	}, ""},
	{"seconds, all rounds", func(c Cell) float64 { return c.Seconds }, ""},
	{"CPU seconds", cpuSeconds, ""},
	{"peak memory, MiB", peakMiB, ""},
	{"API requests", requestCount, ""},
	{"standard deviation of CPU share, %", left(func(s State) float64 { return s.CPUStdDev }), "deviation %"},
	{"nodes above target", left(func(s State) float64 { return float64(s.NodesAbove) }), "nodes above"},
	{"nodes that the plan says must stay above", ofPlan(func(f Foretold) int { return f.Certified }), ""},
	{"fewest evictions (the plan's proven bound)", ofPlan(func(f Foretold) int { return f.MinEvictions }), ""},
	{"Deployments skewed over zones", left(func(s State) float64 { return float64(s.Skewed) }), "skewed"},
	{"of these, though declared otherwise", left(func(s State) float64 { return float64(s.Broken) }), ""},
	{"landings above target, %", left(landedAbove), ""},
	{"pods Pending", left(func(s State) float64 { return float64(s.Pending) }), ""},
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

func realChart(cells []Cell) *chart.Chart {
	c := &chart.Chart{Title: "Evicting until quiet: evictions, and what is left", Log: true}
	for _, r := range grouped(cells, full) {
		for _, line := range realLines {
			if line.chart != "" {
				least, median, most := r.of(line.value)
				c.Set(r[0].Program, "("+r[0].Target+") "+line.chart, chart.Bar{Low: least, Mid: median, High: most})
			}
		}
	}
	return c
}

// foretoldChart is the histogram of nodes of the first run for target (a).
func foretoldChart(cells []Cell) *chart.Chart {
	for _, c := range cells {
		if c.Phase != full || c.Foretold == nil || len(c.Rounds) == 0 || c.Start == nil {
			continue
		}
		out := &chart.Chart{Title: "Nodes by CPU share, target (" + c.Target + ")", Unit: "nodes", Plain: true}
		for i := range c.Start.Histogram {
			group := fmt.Sprintf("%d", 5*i)
			out.Set("before", group, exactly(c.Start.Histogram[i]))
			out.Set("foretold", group, exactly(c.Foretold.Histogram[i]))
			out.Set("came", group, exactly(c.Rounds[0].After.Histogram[i]))
		}
		return out
	}
	return nil
}

func exactly(n int) chart.Bar { return chart.Bar{Low: float64(n), Mid: float64(n), High: float64(n)} }
