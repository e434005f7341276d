package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// bars returns the heights of the drawn rectangles but those of the background
// and the legend, and fails when the figure is no XML.
func bars(t *testing.T, c Chart) (heights []string) {
	t.Helper()
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			for _, a := range e.Attr {
				if a.Name.Local == "height" {
					heights = append(heights, a.Value)
				}
			}
		}
	}
	return heights[1+len(c.Series):]
}

// TestHeightsFollowValues: the drawing is 275 high; the scale ends at 1.1 times
// the highest, or at powers of ten.
func TestHeightsFollowValues(t *testing.T) {
	c := Chart{Title: "a < b & c", Unit: "s"}
	c.Set("one", "small", Bar{1, 1, 1})
	c.Set("one", "large", Bar{90, 100, 100})
	c.Set("two", "large", Bar{math.NaN(), math.NaN(), math.NaN()})
	if got := strings.Join(bars(t, c), " "); got != "2.5 250.0" {
		t.Errorf("heights %s", got)
	}
	c.Log = true
	if got := strings.Join(bars(t, c), " "); got != "0.0 275.0" {
		t.Errorf("heights %s with a logarithmic scale", got)
	}
}

func TestNothingToDraw(t *testing.T) {
	c := Chart{Log: true}
	c.Set("one", "group", Bar{math.NaN(), math.NaN(), math.NaN()})
	if got := bars(t, c); len(got) != 0 {
		t.Errorf("drew %v", got)
	}
}
