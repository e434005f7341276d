package main

import (
	"fmt"
	"math"
	"strings"
)

// wish is a bound on a figure.
type wish struct {
	what string
	most float64
	// value is what came, by the medians; NaN: it has not been measured.
	value func(all []runs) float64
	least bool // most is the least instead
}

func (w wish) row(b *strings.Builder, all []runs) {
	v, sign := w.value(all), "<="
	kept := v <= w.most
	if w.least {
		sign, kept = ">=", v >= w.most
	}
	verdict := "no"
	switch {
	case math.IsNaN(v):
		verdict = "not measured"
	case kept:
		verdict = "yes"
	}
	row(b, w.what, sign+" "+number(w.most), number(v), verdict)
}

// The sizes that the wishes are about.
var (
	realSize  = size{500, 10000}
	largeSize = size{5000, 100000}
)

// wantedTable sets what was measured against what this project sets itself.
func wantedTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "what", "wanted", "measured", "kept")
	if len(cells) == 0 {
		return ""
	}
	real, dryOnes, liveOnes := grouped(cells, full), grouped(cells, dry), grouped(cells, live)
	for _, t := range targets {
		for _, w := range realWishes(t) {
			w.what = fmt.Sprintf("(%s) %s: %s", t.Name, realSize, w.what)
			w.row(&b, real)
		}
	}
	// Both aims against both aims: load alone is less to plan.
	for _, p := range []contender{evenkeelPlan, evenkeelOnce} {
		wish{what: fmt.Sprintf("%s: planning of %s, times faster than %s", largeSize, p.Name, peerAll.Name), most: 10, least: true,
			value: ratio(dry, largeSize, peerAll.Name, p.Name, plannerSeconds)}.row(&b, dryOnes)
	}
	for _, peer := range []contender{peerLoad, peerAll} {
		wish{what: fmt.Sprintf("%s: peak memory while evicting, of that of %s", largeSize, peer.Name), most: 0.5,
			value: ratio(live, largeSize, evenkeelRun.Name, peer.Name, peakMiB)}.row(&b, liveOnes)
	}
	wish{what: fmt.Sprintf("%s: peak memory of a dry run, off from the real one's, %%", largeSize), most: 10,
		value: func(all []runs) float64 {
			return 100 * math.Abs(ratio(live, largeSize, evenkeelDryRun.Name, evenkeelRun.Name, peakMiB)(all)-1)
		}}.row(&b, liveOnes)
	return b.String()
}

// realWishes are those for evicting until quiet.
func realWishes(t target) []wish {
	of := func(f func(Cell) float64) func([]runs) float64 {
		return func(all []runs) float64 { return median(all, full, realSize, t.Name, evenkeelRun.Name, f) }
	}
	wishes := []wish{
		{what: "passes that evict", most: 1, value: of(busy)},
		{what: "quiet in the end (1: yes)", most: 1, least: true, value: of(quiet)},
		{what: "declared constraints broken", most: 0, value: of(left(func(s State) float64 { return float64(s.Broken) }))},
		{what: "pods Pending", most: 0, value: of(left(func(s State) float64 { return float64(s.Pending) }))},
		{what: "zone totals off from the plan's, %", most: 3, value: of(func(c Cell) float64 { return c.foretold().ZonePercent })},
		{what: "histogram off from the plan's, % of nodes", most: 3, value: of(func(c Cell) float64 { return c.foretold().HistogramPercent })},
	}
	if t.Deviation {
		return append(wishes, wish{what: "standard deviation, %", most: 3, value: of(left(func(s State) float64 { return s.CPUStdDev }))})
	}
	return append(wishes, sharedTargetWishes(t, of)...)
}

// sharedTargetWishes are those for a target that the peer has too.
func sharedTargetWishes(t target, of func(func(Cell) float64) func([]runs) float64) []wish {
	skewed := left(func(s State) float64 { return float64(s.Skewed) })
	return []wish{
		{what: "nodes above target but for those certified, % of nodes", most: 1, value: of(func(c Cell) float64 {
			above := left(func(s State) float64 { return float64(s.NodesAbove) })(c)
			return 100 * max(0, above-float64(c.foretold().Certified)) / float64(c.Nodes)
		})},
		{what: "landings above target, %", most: 1, value: of(left(landedAbove))},
		{what: "evictions, of those of peer-load", most: 0.9, value: func(all []runs) float64 {
			return median(all, full, realSize, t.Name, evenkeelRun.Name, evictionCount) / median(all, full, realSize, t.Name, peerLoad.Name, evictionCount)
		}},
		{what: "Deployments skewed, less the fewest that the peer leaves", most: -1, value: func(all []runs) float64 {
			theirs := math.Min(median(all, full, realSize, t.Name, peerLoad.Name, skewed), median(all, full, realSize, t.Name, peerAll.Name, skewed))
			return median(all, full, realSize, t.Name, evenkeelRun.Name, skewed) - theirs
		}},
	}
}

// foretold is what the first plan foretold; all NaN when there is none.
func (c Cell) foretold() Foretold {
	if c.Foretold == nil {
		return Foretold{ZonePercent: math.NaN(), HistogramPercent: math.NaN()}
	}
	return *c.Foretold
}

// median is of the runs of one measurement; NaN when there are none.
func median(all []runs, phase string, z size, target, program string, f func(Cell) float64) float64 {
	if r := alongside(all, Cell{Phase: phase, Nodes: z.nodes, Pods: z.pods, Target: target}, program); r != nil {
		return medianOf(r, f)
	}
	return math.NaN()
}

// ratio divides the medians of two programs.
func ratio(phase string, z size, over, under string, f func(Cell) float64) func([]runs) float64 {
	return func(all []runs) float64 {
		return median(all, phase, z, "a", over, f) / median(all, phase, z, "a", under, f)
	}
}
