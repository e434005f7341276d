// Package chart draws bars in groups as SVG: a bar per series and group, with
// its median, its least and its most.
//
// It decides how a figure looks. It never computes what it shows, and it draws no
// other kind of chart.
package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
)

// Bar is one measurement; Low and High are drawn as a line when they differ. NaN
// in Mid leaves the bar out.
type Bar struct{ Low, Mid, High float64 }

// Series is one program over all groups.
type Series struct {
	Name string
	Bars []Bar // by group; those of the last groups may be missing
}

// Chart is bars over groups.
type Chart struct {
	Title  string
	Unit   string // of the values, such as "s"
	Groups []string
	Series []Series
	// Log makes the steps of the scale powers of ten.
	Log bool
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

// Sizes in pixels. The colours can be told apart by people who do not see red
// and green (Okabe and Ito).
const (
	width, height            = 760, 380
	left, right, top, bottom = 60, 15, 60, 45
)

var colours = []string{"#E69F00", "#D55E00", "#0072B2", "#56B4E9", "#009E73"}

// Write draws the chart.
func (c Chart) Write(w io.Writer) error {
	d := &drawing{w: w, c: c}
	d.low, d.high = c.bounds()
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`, width, height)
	d.printf(`<rect width="%d" height="%d" fill="white"/>`, width, height)
	d.text(left, 18, "start", 14, c.Title)
	d.scale()
	d.legend()
	for g := range c.Groups {
		d.group(g)
	}
	d.printf(`</svg>`)
	return d.err
}

// bounds are the ends of the scale.
func (c Chart) bounds() (low, high float64) {
	low = math.Inf(1)
	for _, s := range c.Series {
		for _, b := range s.Bars {
			if math.IsNaN(b.Mid) {
				continue
			}
			high = max(high, b.High, b.Mid)
			if b.Mid > 0 {
				low = min(low, b.Mid)
			}
			if b.Low > 0 {
				low = min(low, b.Low)
			}
		}
	}
	switch {
	case high <= 0 && c.Log:
		return 1, 10
	case high <= 0:
		return 0, 1
	case !c.Log:
		return 0, high * 1.1
	}
	low = math.Pow(10, math.Floor(math.Log10(low)))
	return low, max(low*10, math.Pow(10, math.Ceil(math.Log10(high))))
}

// drawing keeps the first error of its writer.
type drawing struct {
	w         io.Writer
	c         Chart
	low, high float64
	err       error
}

func (d *drawing) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format+"\n", args...)
	}
}

func (d *drawing) text(x, y float64, anchor string, size int, s string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`, x, y, anchor, size, html.EscapeString(s))
}

// y is where a value lies.
func (d *drawing) y(v float64) float64 {
	part := v / d.high
	if d.c.Log {
		part = math.Log10(max(v, d.low)/d.low) / math.Log10(d.high/d.low)
	}
	return height - bottom - part*(height-top-bottom)
}

func (d *drawing) scale() {
	mark := func(v float64) {
		d.printf(`<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`, left, width-right, d.y(v), d.y(v))
		d.text(left-5, d.y(v)+4, "end", 11, short(v))
	}
	if d.c.Log {
		for v := d.low; v <= d.high*1.001; v *= 10 {
			mark(v)
		}
	} else {
		step := math.Pow(10, math.Floor(math.Log10(d.high/2)))
		for d.high/step > 8 {
			step *= 2
		}
		for v := 0.0; v <= d.high; v += step {
			mark(v)
		}
	}
	d.text(left-5, top-12, "end", 11, d.c.Unit)
}

func (d *drawing) legend() {
	x := float64(left)
	for i, s := range d.c.Series {
		d.printf(`<rect x="%.1f" y="29" width="11" height="11" fill="%s"/>`, x, colours[i%len(colours)])
		d.text(x+15, 39, "start", 11, s.Name)
		x += 35 + 6.2*float64(len(s.Name))
	}
}

func (d *drawing) group(g int) {
	wide := float64(width-left-right) / float64(len(d.c.Groups))
	start := left + wide*float64(g)
	bar := wide * 0.8 / float64(len(d.c.Series))
	d.text(start+wide/2, height-bottom+18, "middle", 11, d.c.Groups[g])
	for i, s := range d.c.Series {
		if g >= len(s.Bars) || math.IsNaN(s.Bars[g].Mid) {
			continue
		}
		b := s.Bars[g]
		x := start + wide*0.1 + bar*float64(i)
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, d.y(b.Mid), bar*0.9, max(0, height-bottom-d.y(b.Mid)), colours[i%len(colours)])
		if b.High > b.Low {
			d.printf(`<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="black"/>`, x+bar*0.45, x+bar*0.45, d.y(b.Low), d.y(b.High))
		}
		if !d.c.Plain {
			d.text(x+bar*0.45, min(d.y(b.Mid), d.y(max(b.High, b.Mid)))-4, "middle", 10, short(b.Mid))
		}
	}
}

// short is a number with three digits that count.
func short(v float64) string {
	if v >= 1000 || v == math.Trunc(v) {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
