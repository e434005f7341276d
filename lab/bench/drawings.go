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

// drawPlanning draws the measures of the dry runs over cluster sizes, with one line per program.
func drawPlanning(measurements []Measurement) (out []drawing) {
	for _, m := range planningMeasures {
		if m.name == "" {
			continue
		}
		l := &chart.Lines{Title: m.title, X: "nodes with 20 pods each (both scales logarithmic)", Y: m.unit}
		for _, r := range groupRepetitions(measurements, dryPhase) {
			if r[0].Cluster == "" { // other clusters are not of the same series
				l.AddPoint(r[0].Program, chart.Point{X: float64(r[0].Nodes), Bar: r.summarize(m.value)})
			}
		}
		out = append(out, drawing{m.name, m.title, l})
	}
	return out
}

func drawLiveMemory(measurements []Measurement) []drawing {
	c := &chart.Chart{Title: "Peak memory while a few pods are evicted", X: "nodes/pods", Y: "MiB"}
	for _, r := range groupRepetitions(measurements, livePhase) {
		c.SetBar(r[0].Program, r[0].size().String(), r.summarize(peakMiB))
	}
	return []drawing{{"", c.Title, c}}
}

// drawEvictionRuns draws bars: one group per target, one bar per program.
func drawEvictionRuns(measurements []Measurement) []drawing {
	var out []drawing
	for _, line := range realRows {
		if line.drawn == "" {
			continue
		}
		c := &chart.Chart{Title: "Evicting until quiet: " + line.name, X: "target, nodes/pods", Y: line.unit}
		for _, r := range groupRepetitions(measurements, realPhase) {
			t := "(" + r[0].Target + ") " + r[0].size().String()
			c.SetBar(r[0].Program, t, r.summarize(line.value))
		}
		out = append(out, drawing{line.drawn, c.Title, c})
	}
	return out
}

// drawHistograms draws the histograms of the first run of each target.
func drawHistograms(measurements []Measurement) []drawing {
	var out []drawing
	done := map[string]bool{}
	for _, c := range measurements {
		if c.Phase != realPhase || c.Prediction == nil || len(c.Rounds) == 0 || c.Start == nil || done[c.Target] {
			continue
		}
		done[c.Target] = true
		h := &chart.Chart{Title: "Nodes by CPU requested, target (" + c.Target + ")", Y: "nodes", Plain: true,
			X: "CPU requested, % of allocatable, in steps of 5 (lower ends)"}
		for i := range c.Start.Histogram {
			group := fmt.Sprintf("%d", 5*i)
			h.SetBar("before", group, exactBar(c.Start.Histogram[i]))
			h.SetBar("predicted", group, exactBar(c.Prediction.Histogram[i]))
			h.SetBar("actual", group, exactBar(c.Rounds[0].After.Histogram[i]))
		}
		out = append(out, drawing{c.Target, h.Title, h})
	}
	return out
}

func exactBar(n int) chart.Bar { return chart.Bar{Low: float64(n), Mid: float64(n), High: float64(n)} }
