package chart

import (
	"io"
	"math"
	"slices"
)

// Point is a measurement at a size.
type Point struct {
	X float64
	Bar
}

// Curve holds the measurements of one program over all sizes.
type Curve struct {
	Name   string
	Points []Point
}

// Lines shows curves over cluster sizes on logarithmic scales. Linear growth appears as a straight line.
type Lines struct {
	Title, X, Y string
	Curves      []Curve
}

// AddPoint adds a point to a curve. AddPoint creates the curve if it does not exist, and ignores
// points that are not above 0.
func (l *Lines) AddPoint(curve string, p Point) {
	i := slices.IndexFunc(l.Curves, func(c Curve) bool { return c.Name == curve })
	if i < 0 {
		i, l.Curves = len(l.Curves), append(l.Curves, Curve{Name: curve})
	}
	if p.X > 0 && p.Mid > 0 && p.Low > 0 {
		l.Curves[i].Points = append(l.Curves[i].Points, p)
	}
}

// Empty reports whether the chart has nothing to draw.
func (l *Lines) Empty() bool {
	return !slices.ContainsFunc(l.Curves, func(c Curve) bool { return len(c.Points) > 0 })
}

// Write writes the curves as SVG.
func (l *Lines) Write(w io.Writer) error {
	var names []string
	for _, c := range l.Curves {
		names = append(names, c.Name)
	}
	x, y := l.axes()
	d := beginDrawing(w, l.Title, l.X, l.Y, x, y, names)
	for _, v := range l.sizes() {
		d.drawLine(d.xOf(v), top, d.xOf(v), height-bottom, grid, 1)
		d.drawText(d.xOf(v), height-bottom+16, "middle", 11, formatShort(v))
	}
	for i, c := range l.Curves {
		d.drawCurve(c, seriesColor(i))
	}
	return d.finish()
}

// sizes returns the sizes of all points, sorted.
func (l *Lines) sizes() (out []float64) {
	for _, c := range l.Curves {
		for _, p := range c.Points {
			out = append(out, p.X)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (l *Lines) axes() (x, y axis) {
	y = axis{low: math.Inf(1), log: true}
	for _, c := range l.Curves {
		for _, p := range c.Points {
			y.low, y.high = min(y.low, p.Low), max(y.high, p.High, p.Mid)
		}
	}
	if y.high == 0 {
		y.low, y.high = 1, 10
	}
	y.low, y.high = math.Pow(10, math.Floor(math.Log10(y.low))), math.Pow(10, math.Ceil(math.Log10(y.high)+1e-9))
	x = axis{low: 1, high: 10, log: true}
	if all := l.sizes(); len(all) > 0 {
		x.low, x.high = all[0]/1.2, all[len(all)-1]*1.2
	}
	return x, y
}

// drawCurve draws a line through the medians, with a dot, the range and the value at each point.
func (d *drawing) drawCurve(c Curve, colour string) {
	slices.SortFunc(c.Points, func(a, b Point) int { return int(a.X - b.X) })
	for i, p := range c.Points {
		if i > 0 {
			before := c.Points[i-1]
			d.drawLine(d.xOf(before.X), d.yOf(before.Mid), d.xOf(p.X), d.yOf(p.Mid), colour, 2)
		}
		if p.High > p.Low {
			d.drawLine(d.xOf(p.X), d.yOf(p.Low), d.xOf(p.X), d.yOf(p.High), colour, 1)
		}
		d.printf(`<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`, d.xOf(p.X), d.yOf(p.Mid), colour)
		d.drawText(d.xOf(p.X)+6, d.yOf(p.Mid)-6, "start", 10, formatShort(p.Mid))
	}
}
