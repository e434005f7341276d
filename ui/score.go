package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// score is the balance score over time.
type score struct {
	Now, Then string
	// Chart is nil if there are less than two hours of history.
	Chart *scoreChart
}

// scoreChart is drawn in a box of one unit for each hour and 100 units of height. Below it is a bar for each hour
// with evictions.
type scoreChart struct {
	Title       string
	Width       int
	Lines       []string // points of polylines; a gap is between two of them
	Top, Bottom string
	Bars        []bar
	Ticks       []tick
	Most        int
	Says        string
}

type bar struct{ X, Y, Height string }

type tick struct{ X, Text, Anchor string }

// The chart shows the hours since the oldest score, within these bounds.
const (
	chartHours  = 720
	minHours    = 24
	chartHeight = 100
	barBottom   = 124
	maxBar      = 26.4
	minSpan     = 20 // per mille: a flat score fills no more of the axis
)

func (q *request) score() *score {
	st := q.status()
	if st.ScorePerMille == nil {
		return nil
	}
	s := &score{Now: points(*st.ScorePerMille)}
	var known []v1alpha1.Hour
	for _, h := range q.hours {
		if h.Score != nil && q.age(h) >= 0 && q.age(h) < chartHours {
			known = append(known, h)
		}
	}
	if len(known) < 2 {
		s.Then = "no history yet"
		if slices.ContainsFunc(q.missing, func(m missing) bool { return m.What == scoreOverTime }) {
			s.Then = "you may not see the history"
		}
		return s
	}
	first := known[0]
	s.Then = fmt.Sprintf("%s on %s", points(*first.Score), first.Start.UTC().Format("2 January"))
	s.Chart = q.chart(known)
	return s
}

func points(perMille int32) string { return fmt.Sprintf("%.1f", float64(perMille)/10) }

// age returns the age of an hour in hours.
func (q *request) age(h v1alpha1.Hour) int { return int(q.now.Sub(h.Start.Time).Hours()) }

func (q *request) chart(known []v1alpha1.Hour) *scoreChart {
	hours := max(q.age(known[0])+1, minHours)
	c := &scoreChart{Width: hours - 1, Title: "30 days"}
	if hours < chartHours {
		c.Title = span(time.Duration(hours) * time.Hour)
	}
	low, high := int32(1000), int32(0)
	for _, h := range known {
		low, high = min(low, *h.Score), max(high, *h.Score)
	}
	bottom, top := low/50*50, (high+49)/50*50
	if top-bottom < minSpan {
		bottom, top = max(0, bottom-50), min(1000, top+50)
	}
	c.Bottom, c.Top = points(bottom), points(top)
	var line []string
	before := known[0]
	for _, h := range known {
		if before.Start.Add(2 * time.Hour).Before(h.Start.Time) {
			c.Lines, line = append(c.Lines, strings.Join(line, " ")), nil
		}
		y := float64(top-*h.Score) / float64(top-bottom) * chartHeight
		line, before = append(line, fmt.Sprintf("%d,%.1f", hours-1-q.age(h), y)), h
	}
	c.Lines = append(c.Lines, strings.Join(line, " "))
	most, total := int32(0), 0
	for _, h := range q.hours {
		if a := q.age(h); a >= 0 && a < hours {
			most = max(most, h.Evicted)
			total += int(h.Evicted)
		}
	}
	for _, h := range q.hours {
		if a := q.age(h); a >= 0 && a < hours && h.Evicted > 0 {
			height := max(2, float64(h.Evicted)/float64(most)*maxBar)
			c.Bars = append(c.Bars, bar{fmt.Sprintf("%.2f%%", float64(hours-1-a)/float64(hours)*100), fmt.Sprintf("%.1f", barBottom-height), fmt.Sprintf("%.1f", height)})
		}
	}
	c.Most = int(most)
	format := "2 Jan"
	if hours < 4*minHours {
		format = "15:04"
	}
	for i, anchor := range []string{"start", "middle", "middle"} {
		at := q.now.Add(-time.Duration(hours*(3-i)/3) * time.Hour)
		c.Ticks = append(c.Ticks, tick{percent.Of(float64(i) / 3), at.Format(format), anchor})
	}
	first, last := known[0], known[len(known)-1]
	lowest := slices.MinFunc(known, func(a, b v1alpha1.Hour) int { return int(*a.Score - *b.Score) })
	c.Says = fmt.Sprintf("Balance score of each hour: %s on %s, lowest %s, %s now. Passes moved %s.", points(*first.Score), first.Start.UTC().Format("2 January"),
		points(*lowest.Score), points(*last.Score), plural.Count(total, "pod"))
	return c
}
