package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// attributes returns the values of one attribute of all matching elements. The test fails if the figure is not valid
// XML.
func attributes(t *testing.T, f interface{ Write(io.Writer) error }, element, class, name string) (out []string) {
	t.Helper()
	var b strings.Builder
	must.Succeed(t, f.Write(&b))
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != element {
			continue
		}
		has := map[string]string{}
		for _, a := range e.Attr {
			has[a.Name.Local] = a.Value
		}
		if has["class"] == class {
			out = append(out, has[name])
		}
	}
}

// TestHeightsFollowValues checks bar heights: the drawing area is 265 high, and the scale ends at 1.1 times the
// maximum.
func TestHeightsFollowValues(t *testing.T) {
	c := &Chart{Title: "a < b & c", Y: "seconds"}
	c.SetBar("one", "small", Bar{1, 1, 1})
	c.SetBar("one", "large", Bar{90, 100, 100})
	c.SetBar("two", "large", Bar{math.NaN(), math.NaN(), math.NaN()})
	if got := strings.Join(attributes(t, c, "rect", "bar", "height"), " "); got != "2.4 240.9" {
		t.Errorf("bar heights are %s, want 2.4 and 240.9", got)
	}
}

// TestALineIsStraightWhereGrowthIsLinear checks that linear growth is a straight line with its points sorted by size.
func TestALineIsStraightWhereGrowthIsLinear(t *testing.T) {
	l := &Lines{Title: "time", X: "nodes", Y: "seconds"}
	for _, x := range []float64{5000, 500, 50} {
		l.AddPoint("one", Point{x, Bar{x / 100, x / 100, x / 100}})
	}
	l.AddPoint("two", Point{500, Bar{0, 0, 0}}) // cannot be drawn on a logarithmic scale
	if l.Empty() || len(l.Curves[1].Points) != 0 {
		t.Fatalf("%+v", l.Curves)
	}
	x, y := attributes(t, l, "circle", "", "cx"), attributes(t, l, "circle", "", "cy")
	// The scale from 0.1 to 100 s is 265 pixels high, so each decade takes 88.3 pixels.
	if strings.Join(x, " ") != "94.6 405.0 715.4" || strings.Join(y, " ") != "283.3 194.9 106.6" {
		t.Errorf("points have x %v and y %v", x, y)
	}
}

// TestTicksAreRound checks that an axis has few marks, all with round values.
func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		a    axis
		want string
	}{
		{axis{0, 1.1, false}, "0 0.2 0.4 0.6 0.8 1"},
		{axis{0, 2072, false}, "0 500 1000 1500 2000"},
		{axis{0, 30.1, false}, "0 5 10 15 20 25 30"},
		{axis{0.1, 100, true}, "0.1 1 10 100"},
	} {
		var got []string
		for _, v := range c.a.ticks() {
			got = append(got, formatShort(v))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("axis %+v has marks %v, want %s", c.a, got, c.want)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	c := &Chart{}
	c.SetBar("one", "group", Bar{math.NaN(), math.NaN(), math.NaN()})
	if got := attributes(t, c, "rect", "bar", "height"); len(got) != 0 {
		t.Errorf("drew %v", got)
	}
	l := &Lines{}
	l.AddPoint("one", Point{})
	if got := attributes(t, l, "circle", "", "cx"); len(got) != 0 || !l.Empty() {
		t.Errorf("drew %v", got)
	}
}
