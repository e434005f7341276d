package html

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// heat counts nodes by zone and by share. A row is 10 points wide; a target inside of a row splits it. A node exactly
// on a boundary belongs to the lower row, because a target means "at most".
func (ns *nodeSet) heat(m measure) Heat {
	edges := []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	limit, has := ns.target(m)
	if has && !slices.ContainsFunc(edges, func(e float64) bool { return math.Abs(e-limit) < shareTolerance }) {
		edges = append(edges, limit)
		slices.Sort(edges)
	}
	column := map[string]int{}
	h := Heat{Label: m.label(), Zones: make([]string, len(ns.zones))}
	for i, z := range ns.zones {
		column[z], h.Zones[i] = i, zoneLabel(z)
	}
	// Row i counts the nodes above edges[i-1] and at most at edges[i], row len(edges) those above 100%. Row 0 counts
	// those of unknown use.
	rows := len(edges) + 1
	now, after := newCounts(rows, len(ns.zones)), newCounts(rows, len(ns.zones))
	for _, n := range ns.all {
		c := column[n.now.Zone]
		now[rowOf(m, n, false, edges)][c]++
		after[rowOf(m, n, true, edges)][c]++
	}
	top := 1
	for i := range rows {
		top = max(top, slices.Max(now[i]), slices.Max(after[i]))
	}
	for i := rows - 1; i >= 0; i-- {
		row := HeatRow{Now: heatCells(now[i], top), After: heatCells(after[i], top)}
		switch {
		case i == 0:
			row.Label = "unknown"
		case i == len(edges):
			row.Label, row.Line = "above 100%", has && math.Abs(limit-1) < shareTolerance
		default:
			row.Label = rangeLabel(edges[i-1], edges[i])
			row.Line = has && math.Abs(edges[i]-limit) < shareTolerance
		}
		if i > 0 && i < len(edges) || !isEmpty(now[i]) || !isEmpty(after[i]) {
			h.Rows = append(h.Rows, row)
		}
	}
	if hotNow, hotAfter := ns.above(m); has {
		h.Rest = fmt.Sprintf(": %s → %s nodes above %s, the heavy line", number(hotNow), number(hotAfter), percentOf(limit))
	}
	if m.Load {
		h.Rest = " used" + h.Rest
	}
	return h
}

func newCounts(rows, columns int) [][]int {
	out := make([][]int, rows)
	for i := range out {
		out[i] = make([]int, columns)
	}
	return out
}

func isEmpty(counts []int) bool { return slices.Max(counts) == 0 }

// rowOf returns the row of a node, now or after the plan.
func rowOf(m measure, n node, after bool, edges []float64) int {
	of := n.now
	if after {
		of = n.after
	}
	v, known := m.of(of)[m.Resource]
	if !known {
		return 0
	}
	for i := 1; i < len(edges); i++ {
		if v <= edges[i]+shareTolerance {
			return i
		}
	}
	return len(edges)
}

// rangeLabel writes a range of shares: 70–80%.
func rangeLabel(from, to float64) string {
	points := func(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/10, 'f', -1, 64) }
	return points(from) + "–" + points(to) + "%"
}

// heatLevels is the number of strengths of a colour.
const heatLevels = 6

// heatCells chooses the strength by the square root of the count.
func heatCells(counts []int, top int) []HeatCell {
	out := make([]HeatCell, len(counts))
	for i, n := range counts {
		if out[i].Count = "·"; n > 0 {
			level := int(heatLevels*math.Sqrt(float64(n)/float64(top)) - 1e-9)
			out[i] = HeatCell{Count: number(n), Level: 1 + min(heatLevels-1, level)}
		}
	}
	return out
}
