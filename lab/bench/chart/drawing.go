package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
)

// Sizes in pixels. The background is transparent. The grey of the text has enough contrast on white (4.5:1) and on
// dark pages (4:1). People with red-green color blindness can distinguish the colors (Okabe and Ito).
const (
	width, height            = 760, 400
	left, right, top, bottom = 70, 20, 80, 55

	ink  = "#777777"
	grid = "#77777740"
)

var colours = []string{"#E69F00", "#D55E00", "#0072B2", "#56B4E9", "#009E73"}

func seriesColor(i int) string { return colours[i%len(colours)] }

// drawing writes SVG elements and keeps the first error of its writer.
type drawing struct {
	w    io.Writer
	x, y axis
	err  error
}

// beginDrawing writes the titles, the legend and the ticks of the vertical axis.
func beginDrawing(w io.Writer, title, x, y string, scaleX, scaleY axis, names []string) *drawing {
	d := &drawing{w: w, x: scaleX, y: scaleY}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" role="img">`, width, height)
	d.printf(`<title>%s</title>`, html.EscapeString(title))
	d.drawText(left, 18, "start", 14, title)
	d.drawText(8, top-18, "start", 11, y)
	d.drawText((left+width-right)/2, height-12, "middle", 11, x)
	d.drawLegend(names)
	for _, v := range d.y.ticks() {
		d.drawLine(left, d.yOf(v), width-right, d.yOf(v), grid, 1)
		d.drawText(left-6, d.yOf(v)+4, "end", 11, formatShort(v))
	}
	return d
}

func (d *drawing) finish() error {
	d.drawLine(left, height-bottom, width-right, height-bottom, ink, 1)
	d.printf(`</svg>`)
	return d.err
}

func (d *drawing) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format+"\n", args...)
	}
}

func (d *drawing) drawText(x, y float64, anchor string, size int, s string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s">%s</text>`, x, y, anchor, size, ink, html.EscapeString(s))
}

func (d *drawing) drawLine(x1, y1, x2, y2 float64, stroke string, wide float64) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`, x1, y1, x2, y2, stroke, wide)
}

// drawLegend writes the names of the series in order.
func (d *drawing) drawLegend(names []string) {
	x := float64(left)
	for i, name := range names {
		d.printf(`<rect x="%.1f" y="29" width="11" height="11" fill="%s"/>`, x, seriesColor(i))
		d.drawText(x+15, 39, "start", 11, name)
		x += 35 + 6.2*float64(len(name))
	}
}

// yOf returns the y coordinate of a value.
func (d *drawing) yOf(v float64) float64 {
	return height - bottom - d.y.fraction(v)*(height-top-bottom)
}

// xOf returns the x coordinate of a value.
func (d *drawing) xOf(v float64) float64 { return left + d.x.fraction(v)*(width-left-right) }

// axis is a linear or logarithmic scale; a logarithmic axis requires low > 0.
type axis struct {
	low, high float64
	log       bool
}

// fraction returns the position of a value on the axis, from 0 to 1.
func (a axis) fraction(v float64) float64 {
	if a.log {
		return math.Log10(max(v, a.low)/a.low) / math.Log10(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// ticks returns the values of the axis marks: at most nine round values, or all powers of ten on a logarithmic axis.
func (a axis) ticks() (out []float64) {
	if a.log {
		for v := math.Pow(10, math.Ceil(math.Log10(a.low)-1e-9)); v <= a.high*1.001; v *= 10 {
			out = append(out, v)
		}
		return out
	}
	unit := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/8)))
	for _, times := range []float64{1, 2, 5, 10} {
		if step := unit * times; (a.high-a.low)/step <= 8 {
			for i := 0.0; a.low+i*step <= a.high; i++ {
				out = append(out, a.low+i*step)
			}
			return out
		}
	}
	return nil
}

// formatShort formats a number with three significant digits.
func formatShort(v float64) string {
	if v >= 1000 || v == math.Trunc(v) {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
