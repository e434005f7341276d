package main

import (
	"fmt"
	"math"
	"strings"
)

// wish is a goal: a bound on a measured value.
type wish struct {
	what string
	most float64
	// value computes the measured value from medians; NaN if it has not been measured.
	value func(all []runs) float64
	least bool // most is a lower bound instead
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

// The cluster sizes of the goals.
var (
	realSize  = size{500, 10000}
	largeSize = size{5000, 100000}
)

// wantedTable compares the measurements with this project's own goals.
func wantedTable(cells []Cell) string {
	var b strings.Builder
	head(&b, "value", "goal", "measured", "met")
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
	// Compared with peer-all, because Evenkeel also plans for both goals.
	for _, p := range []contender{evenkeelPlan, evenkeelOnce} {
		wish{what: fmt.Sprintf("%s: planning of %s, times faster than %s", largeSize, p.Name, peerAll.Name), most: 10, least: true,
			value: ratio(dry, largeSize, peerAll.Name, p.Name, plannerSeconds)}.row(&b, dryOnes)
	}
	for _, peer := range []contender{peerLoad, peerAll} {
		wish{what: fmt.Sprintf("%s: peak memory while evicting, as a fraction of %s", largeSize, peer.Name), most: 0.5,
			value: ratio(live, largeSize, evenkeelRun.Name, peer.Name, peakMiB)}.row(&b, liveOnes)
	}
	wish{what: fmt.Sprintf("%s: peak memory of a dry run, difference to the real run, %%", largeSize), most: 10,
		value: func(all []runs) float64 {
			return 100 * math.Abs(ratio(live, largeSize, evenkeelDryRun.Name, evenkeelRun.Name, peakMiB)(all)-1)
		}}.row(&b, liveOnes)
	return b.String()
}

// realWishes returns the goals for evicting until a round evicts nothing.
func realWishes(t target) []wish {
	of := func(f func(Cell) float64) func([]runs) float64 {
		return func(all []runs) float64 { return median(all, full, realSize, t.Name, evenkeelRun.Name, f) }
	}
	wishes := []wish{
		{what: "passes that evict", most: 1, value: of(busy)},
		{what: "last round evicts nothing (1: yes)", most: 1, least: true, value: of(quiet)},
		{what: "declared constraints broken", most: 0, value: of(left(func(s State) float64 { return float64(s.Broken) }))},
		{what: "pods Pending", most: 0, value: of(left(func(s State) float64 { return float64(s.Pending) }))},
		{what: "zone totals, difference to the plan, %", most: 3, value: of(func(c Cell) float64 { return c.foretold().ZonePercent })},
		{what: "histogram difference to the plan, % of nodes", most: 3, value: of(func(c Cell) float64 { return c.foretold().HistogramPercent })},
	}
	if t.Deviation {
		return append(wishes, wish{what: "standard deviation, %", most: 3, value: of(left(func(s State) float64 { return s.CPUStdDev }))})
	}
	return append(wishes, sharedTargetWishes(t, of)...)
}

// sharedTargetWishes returns the goals for a target that the descheduler also supports.
func sharedTargetWishes(t target, of func(func(Cell) float64) func([]runs) float64) []wish {
	skewed := left(func(s State) float64 { return float64(s.Skewed) })
	return []wish{
		{what: "nodes above target, without those proven unreachable, %", most: 1, value: of(func(c Cell) float64 {
			above := left(func(s State) float64 { return float64(s.NodesAbove) })(c)
			return 100 * max(0, above-float64(c.foretold().Certified)) / float64(c.Nodes)
		})},
		{what: "landings above target, %", most: 1, value: of(left(landedAbove))},
		{what: "evictions, as a fraction of peer-load", most: 0.9, value: func(all []runs) float64 {
			return median(all, full, realSize, t.Name, evenkeelRun.Name, evictionCount) /
				median(all, full, realSize, t.Name, peerLoad.Name, evictionCount)
		}},
		{what: "skewed Deployments, minus the descheduler's minimum", most: -1, value: func(all []runs) float64 {
			theirs := math.Min(median(all, full, realSize, t.Name, peerLoad.Name, skewed),
				median(all, full, realSize, t.Name, peerAll.Name, skewed))
			return median(all, full, realSize, t.Name, evenkeelRun.Name, skewed) - theirs
		}},
	}
}

// foretold returns the predictions of the first plan; NaN if there are none.
func (c Cell) foretold() Foretold {
	if c.Foretold == nil {
		return Foretold{ZonePercent: math.NaN(), HistogramPercent: math.NaN()}
	}
	return *c.Foretold
}

// median returns the median of the runs of one measurement; NaN if there are none.
func median(all []runs, phase string, z size, target, program string, f func(Cell) float64) float64 {
	if r := alongside(all, Cell{Phase: phase, Nodes: z.nodes, Pods: z.pods, Target: target}, program); r != nil {
		return medianOf(r, f)
	}
	return math.NaN()
}

// ratio returns the quotient of two programs' medians.
func ratio(phase string, z size, over, under string, f func(Cell) float64) func([]runs) float64 {
	return func(all []runs) float64 {
		return median(all, phase, z, "a", over, f) / median(all, phase, z, "a", under, f)
	}
}
