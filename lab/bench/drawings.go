package main

import (
	"fmt"
	"io"

	"github.com/evenkeel-project/evenkeel/lab/bench/chart"
)

// drawing is one SVG file of a figure. The name is appended to the figure's name; empty if the figure has only one
// drawing.
type drawing struct {
	name, title string
	chart       interface {
		Write(io.Writer) error
		Empty() bool
	}
}

// sizeDrawing draws a measure over cluster sizes with one line per program.
func sizeDrawing(title, unit string, f func(Cell) float64) func([]Cell) []drawing {
	return func(cells []Cell) []drawing {
		l := &chart.Lines{Title: title, X: "nodes with 20 pods each (both scales logarithmic)", Y: unit}
		for _, r := range groupRepetitions(cells, dryPhase) {
			least, median, most := r.minMedianMax(f)
			l.Add(r[0].Program, chart.Point{X: float64(r[0].Nodes), Bar: chart.Bar{Low: least, Mid: median, High: most}})
		}
		return []drawing{{"", title, l}}
	}
}

func liveDrawing(cells []Cell) []drawing {
	c := &chart.Chart{Title: "Peak memory while a few pods are evicted", X: "nodes/pods", Y: "MiB"}
	for _, r := range groupRepetitions(cells, livePhase) {
		least, median, most := r.minMedianMax(peakMiB)
		c.Set(r[0].Program, size{r[0].Nodes, r[0].Pods}.String(), chart.Bar{Low: least, Mid: median, High: most})
	}
	return []drawing{{"", c.Title, c}}
}

// realDrawings draws bars: one group per target, one bar per program.
func realDrawings(cells []Cell) []drawing {
	var out []drawing
	for _, line := range realRows {
		if line.drawn == "" {
			continue
		}
		c := &chart.Chart{Title: "Evicting until quiet: " + line.name, X: "target, nodes/pods", Y: line.unit}
		for _, r := range groupRepetitions(cells, realPhase) {
			least, median, most := r.minMedianMax(line.value)
			t := "(" + r[0].Target + ") " + size{r[0].Nodes, r[0].Pods}.String()
			c.Set(r[0].Program, t, chart.Bar{Low: least, Mid: median, High: most})
		}
		out = append(out, drawing{line.drawn, c.Title, c})
	}
	return out
}

// histograms draws the histograms of the first run of each target.
func histograms(cells []Cell) []drawing {
	var out []drawing
	done := map[string]bool{}
	for _, c := range cells {
		if c.Phase != realPhase || c.Prediction == nil || len(c.Rounds) == 0 || c.Start == nil || done[c.Target] {
			continue
		}
		done[c.Target] = true
		h := &chart.Chart{Title: "Nodes by CPU requested, target (" + c.Target + ")", Y: "nodes", Plain: true,
			X: "CPU requested, % of allocatable, in steps of 5 (lower ends)"}
		for i := range c.Start.Histogram {
			group := fmt.Sprintf("%d", 5*i)
			h.Set("before", group, exactBar(c.Start.Histogram[i]))
			h.Set("predicted", group, exactBar(c.Prediction.Histogram[i]))
			h.Set("actual", group, exactBar(c.Rounds[0].After.Histogram[i]))
		}
		out = append(out, drawing{c.Target, h.Title, h})
	}
	return out
}

func exactBar(n int) chart.Bar { return chart.Bar{Low: float64(n), Mid: float64(n), High: float64(n)} }
