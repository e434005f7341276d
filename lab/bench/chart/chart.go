// Package chart draws measurements as SVG: bars in groups, or lines over sizes,
// each with its median, its least and its most.
//
// It decides how a figure looks; what is drawn can be read on light and on dark
// pages. It never computes what it shows.
package chart

import (
	"io"
	"math"
	"slices"
)

// Bar is one measurement; Low and High are drawn as a line when they differ. NaN
// in Mid leaves the bar out.
type Bar struct{ Low, Mid, High float64 }

// Series is one program over all groups.
type Series struct {
	Name string
	Bars []Bar // by group; those of the last groups may be missing
}

// Chart is bars over groups. The scale begins at 0.
type Chart struct {
	Title  string
	X, Y   string // what the axes show, with units
	Groups []string
	Series []Series
	// Plain leaves the values off the bars, for many of them.
	Plain bool
}

// Set puts a bar into a group, both made when they are not there yet.
func (c *Chart) Set(series, group string, b Bar) {
	g := slices.Index(c.Groups, group)
	if g < 0 {
		g, c.Groups = len(c.Groups), append(c.Groups, group)
	}
	i := slices.IndexFunc(c.Series, func(s Series) bool { return s.Name == series })
	if i < 0 {
		i, c.Series = len(c.Series), append(c.Series, Series{Name: series})
	}
	s := &c.Series[i]
	for len(s.Bars) <= g {
		s.Bars = append(s.Bars, Bar{math.NaN(), math.NaN(), math.NaN()})
	}
	s.Bars[g] = b
}

// Empty reports whether there is nothing to draw.
func (c *Chart) Empty() bool { return len(c.Series) == 0 }

// Write draws the chart.
func (c *Chart) Write(w io.Writer) error {
	high := 0.0
	for _, s := range c.Series {
		for _, b := range s.Bars {
			if !math.IsNaN(b.Mid) {
				high = max(high, b.High, b.Mid)
			}
		}
	}
	d := begin(w, c.Title, c.X, c.Y)
	d.y = axis{low: 0, high: cmpOr(high*1.1, 1)}
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
	}
	d.legend(names)
	for _, v := range d.y.steps() {
		d.markY(v)
	}
	for g := range c.Groups {
		c.group(d, g)
	}
	return d.end()
}

func cmpOr(v, otherwise float64) float64 {
	if v > 0 {
		return v
	}
	return otherwise
}

func (c *Chart) group(d *drawing, g int) {
	wide := float64(width-left-right) / float64(len(c.Groups))
	start := left + wide*float64(g)
	bar := wide * 0.8 / float64(len(c.Series))
	d.text(start+wide/2, height-bottom+16, "middle", 11, c.Groups[g])
	for i, s := range c.Series {
		if g >= len(s.Bars) || math.IsNaN(s.Bars[g].Mid) {
			continue
		}
		b := s.Bars[g]
		x := start + wide*0.1 + bar*float64(i)
		top := d.up(b.Mid)
		d.printf(`<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, top, bar*0.9, max(0, height-bottom-top), colour(i))
		if b.High > b.Low {
			d.line(x+bar*0.45, d.up(b.Low), x+bar*0.45, d.up(b.High), ink, 1)
		}
		if !c.Plain {
			d.text(x+bar*0.45, min(top, d.up(max(b.High, b.Mid)))-4, "middle", 10, short(b.Mid))
		}
	}
}
