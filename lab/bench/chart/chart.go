// Package chart draws measurements as SVG: bars in groups, or lines over sizes, each with its minimum, median and
// maximum.
//
// The package defines the look of figures on light and on dark pages. It computes no measurements.
package chart

import (
	"io"
	"math"
	"slices"
)

// Bar is one measurement. If Low and High differ, a vertical line shows the range. If Mid is NaN, the chart omits the
// bar.
type Bar struct{ Low, Mid, High float64 }

// Series holds the bars of one program.
type Series struct {
	Name string
	Bars []Bar // by group; the last groups may be missing
}

// Chart shows bars in groups. The scale begins at 0.
type Chart struct {
	Title  string
	X, Y   string // axis titles, with units
	Groups []string
	Series []Series
	// Plain omits the values above the bars.
	Plain bool
}

// SetBar sets the bar of a series in a group. SetBar adds the series and the group if they do not exist.
func (c *Chart) SetBar(series, group string, b Bar) {
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

// Empty reports whether the chart has nothing to draw.
func (c *Chart) Empty() bool { return len(c.Series) == 0 }

// Write writes the chart as SVG.
func (c *Chart) Write(w io.Writer) error {
	high := 0.0
	for _, s := range c.Series {
		for _, b := range s.Bars {
			if !math.IsNaN(b.Mid) {
				high = max(high, b.High, b.Mid)
			}
		}
	}
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
	}
	if high <= 0 {
		high = 1 / 1.1
	}
	d := beginDrawing(w, c.Title, c.X, c.Y, axis{}, axis{high: high * 1.1}, names)
	for g := range c.Groups {
		c.drawGroup(d, g)
	}
	return d.finish()
}

func (c *Chart) drawGroup(d *drawing, g int) {
	wide := float64(width-left-right) / float64(len(c.Groups))
	start := left + wide*float64(g)
	bar := wide * 0.8 / float64(len(c.Series))
	d.drawText(start+wide/2, height-bottom+16, "middle", 11, c.Groups[g])
	for i, s := range c.Series {
		if g >= len(s.Bars) || math.IsNaN(s.Bars[g].Mid) {
			continue
		}
		b := s.Bars[g]
		x := start + wide*0.1 + bar*float64(i)
		top := d.yOf(b.Mid)
		d.printf(`<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`,
			x, top, bar*0.9, max(0, height-bottom-top), seriesColor(i))
		if b.High > b.Low {
			d.drawLine(x+bar*0.45, d.yOf(b.Low), x+bar*0.45, d.yOf(b.High), ink, 1)
		}
		if !c.Plain {
			d.drawText(x+bar*0.45, min(top, d.yOf(max(b.High, b.Mid)))-4, "middle", 10, formatShort(b.Mid))
		}
	}
}
