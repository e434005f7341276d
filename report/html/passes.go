package html

import (
	"fmt"
	"slices"
	"time"
)

// Pass is a past pass with moves.
type Pass struct {
	At      time.Time
	Evicted int
	// Score is the balance score before the pass; 0 if it is unknown.
	Score float64
}

// Passes is a chart of past passes: the balance score as a line, and the pods that each pass evicted as bars.
type Passes struct {
	Label       string
	Top, Bottom string // of the axis of the score; empty without a score
	Lines       []PassLine
	Bars        []PassBar
	Ticks       []WaveTick
	Most        string // evictions of the highest bar
}

// PassLine is the score between two passes.
type PassLine struct{ X1, Y1, X2, Y2 string }

// PassBar is the evictions of one pass.
type PassBar struct{ Title, X, Y, Height string }

const (
	scoreHeight = 96 // of the part with the score
	barBase     = 140
	barHeight   = 32
)

// NewPasses draws passes. It returns nil if there are fewer than two.
func NewPasses(all []Pass) *Passes {
	if len(all) < 2 {
		return nil
	}
	all = slices.SortedFunc(slices.Values(all), func(a, b Pass) int { return a.At.Compare(b.At) })
	first, last := all[0].At, all[len(all)-1].At
	span := max(last.Sub(first), time.Second)
	x := func(t time.Time) float64 { return 0.01 + 0.98*float64(t.Sub(first))/float64(span) }
	c := &Passes{}
	low, high, most, total := 100.0, 0.0, 1, 0
	for _, p := range all {
		most, total = max(most, p.Evicted), total+p.Evicted
		if p.Score > 0 {
			low, high = min(low, p.Score), max(high, p.Score)
		}
	}
	bottom, top := max(0, low-1), min(100, high+1)
	y := func(score float64) string { return fmt.Sprintf("%.1f", 12+scoreHeight*(top-score)/(top-bottom)) }
	var before *Pass
	for i := range all {
		p := &all[i]
		if before != nil && before.Score > 0 && p.Score > 0 {
			c.Lines = append(c.Lines, PassLine{share(x(before.At)), y(before.Score), share(x(p.At)), y(p.Score)})
		}
		before = p
		height := barHeight * float64(p.Evicted) / float64(most)
		c.Bars = append(c.Bars, PassBar{Title: moment(p.At) + ": " + count(p.Evicted, "eviction"), X: share(x(p.At)),
			Y: fmt.Sprintf("%.1f", barBase-height), Height: fmt.Sprintf("%.1f", height)})
	}
	c.Label = fmt.Sprintf("%s evicted %s between %s and %s, at most %s", passes(len(all)), count(total, "pod"), moment(first), moment(last), number(most))
	if len(c.Lines) > 0 {
		c.Top, c.Bottom = fmt.Sprintf("%.1f", top), fmt.Sprintf("%.1f", bottom)
		c.Label += fmt.Sprintf("; the balance score was between %.1f and %.1f", low, high)
	}
	c.Most = number(most)
	layout := "2 Jan"
	if span < 48*time.Hour {
		layout = "2 Jan 15:04"
	}
	c.Ticks = []WaveTick{{share(x(first)), "start", first.UTC().Format(layout)}, {share(x(last)), "end", last.UTC().Format(layout)}}
	return c
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return number(n) + " passes"
}
