package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
)

// Sizes in pixels. Nothing is drawn behind the figure, and text is of a grey that
// stands out from white (4.5:1) as well as from a dark page (4:1). The colours can
// be told apart by people who do not see red and green (Okabe and Ito).
const (
	width, height            = 760, 400
	left, right, top, bottom = 70, 20, 80, 55

	ink  = "#777777"
	grid = "#77777740"
)

var colours = []string{"#E69F00", "#D55E00", "#0072B2", "#56B4E9", "#009E73"}

func colour(i int) string { return colours[i%len(colours)] }

// drawing keeps the first error of its writer.
type drawing struct {
	w    io.Writer
	x, y axis
	err  error
}

// begin draws what every figure has.
func begin(w io.Writer, title, x, y string) *drawing {
	d := &drawing{w: w}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" role="img">`, width, height)
	d.printf(`<title>%s</title>`, html.EscapeString(title))
	d.text(left, 18, "start", 14, title)
	d.text(8, top-18, "start", 11, y)
	d.text((left+width-right)/2, height-12, "middle", 11, x)
	return d
}

func (d *drawing) end() error {
	d.line(left, height-bottom, width-right, height-bottom, ink, 1)
	d.printf(`</svg>`)
	return d.err
}

func (d *drawing) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format+"\n", args...)
	}
}

func (d *drawing) text(x, y float64, anchor string, size int, s string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s">%s</text>`, x, y, anchor, size, ink, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, stroke string, wide float64) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`, x1, y1, x2, y2, stroke, wide)
}

// legend names the series, in their order.
func (d *drawing) legend(names []string) {
	x := float64(left)
	for i, name := range names {
		d.printf(`<rect x="%.1f" y="29" width="11" height="11" fill="%s"/>`, x, colour(i))
		d.text(x+15, 39, "start", 11, name)
		x += 35 + 6.2*float64(len(name))
	}
}

// up is where a value lies on the vertical axis.
func (d *drawing) up(v float64) float64 { return height - bottom - d.y.part(v)*(height-top-bottom) }

// along is where a value lies on the horizontal axis.
func (d *drawing) along(v float64) float64 { return left + d.x.part(v)*(width-left-right) }

func (d *drawing) markY(v float64) {
	d.line(left, d.up(v), width-right, d.up(v), grid, 1)
	d.text(left-6, d.up(v)+4, "end", 11, short(v))
}

// axis is a scale; on a logarithmic one, low is above 0.
type axis struct {
	low, high float64
	log       bool
}

// part is how far along the axis a value lies, 0 to 1.
func (a axis) part(v float64) float64 {
	if a.log {
		return math.Log10(max(v, a.low)/a.low) / math.Log10(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// steps are the values that are marked: round ones, at most nine of them, or on a
// logarithmic scale all powers of ten.
func (a axis) steps() (out []float64) {
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

// short is a number with three digits that count.
func short(v float64) string {
	if v >= 1000 || v == math.Trunc(v) {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
