package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// allNodes stands for the only row of a large cluster that has no zones, or one.
const allNodes = "all nodes"

// writeZones writes the average and the fullest node of each zone. A plan contains fractions and no node sizes, so
// small and large nodes have the same weight in the average.
func (t *planTable) writeZones(p plan.Plan) {
	if len(p.Before.Nodes) < len(p.Whole().Before.Nodes) {
		return // averages of some nodes are not those of their zones
	}
	zoneOf := func(n plan.NodeState) string { return n.Zone }
	if len(zoneNames(p)) < 2 {
		if len(p.Before.Nodes) <= maxSmallCluster {
			return
		}
		zoneOf = func(plan.NodeState) string { return allNodes }
	}
	requested := func(n plan.NodeState) map[string]float64 { return n.Requested }
	used := func(n plan.NodeState) map[string]float64 { return n.Used }
	columns := zoneColumns(requestedResources(p, t.out.wide), "", requested)
	columns = append(columns, zoneColumns(resourceNames(p, used), " USED", used)...)
	heads := []string{"ZONE", ">NODES"}
	for _, c := range columns {
		heads = append(heads, ">"+c.head+" MEAN", ">"+c.head+" MAX")
	}
	before, after := byZone(p.Before.Nodes, zoneOf), byZone(p.After.Nodes, zoneOf)
	g, changes := layout.NewGrid(heads...), []float64{}
	for _, z := range sortedKeys(before) {
		cells, change := []string{escape(z), strconv.Itoa(len(before[z]))}, 0.0
		for _, c := range columns {
			now, then := summarize(before[z], c), summarize(after[z], c)
			cells = append(cells, changeText(now.meanText(), then.meanText()), changeText(now.maxText(), then.maxText()))
			change = max(change, now.mean-then.mean, then.mean-now.mean)
		}
		g.Add(cells...)
		changes = append(changes, change)
	}
	t.out.addSection(zoneRank, layout.Section{Title: "Zones: average and fullest of their nodes" + nowThen, Picked: "with the largest change", Grid: g,
		Keep: 4, Order: orderBy(g.Len(), func(a, b int) int { return cmp.Compare(changes[b], changes[a]) })})
}

// zoneColumn is an amount of the nodes of a zone.
type zoneColumn struct {
	head, resource string
	of             func(plan.NodeState) map[string]float64
}

func zoneColumns(names []string, suffix string, of func(plan.NodeState) map[string]float64) (out []zoneColumn) {
	for _, r := range names {
		out = append(out, zoneColumn{strings.ToUpper(escape(r)) + suffix, r, of})
	}
	return out
}

// byZone groups the nodes. Nodes without a zone are in no group.
func byZone(nodes []plan.NodeState, zoneOf func(plan.NodeState) string) map[string][]plan.NodeState {
	out := map[string][]plan.NodeState{}
	for _, n := range nodes {
		if z := zoneOf(n); z != "" {
			out[z] = append(out[z], n)
		}
	}
	return out
}

// zoneSummary describes an amount of a group of nodes. known is the number of nodes for which it is known.
type zoneSummary struct {
	mean, max float64
	known     int
}

func summarize(nodes []plan.NodeState, c zoneColumn) (s zoneSummary) {
	for _, n := range nodes {
		if v, ok := c.of(n)[c.resource]; ok {
			s.mean, s.max, s.known = s.mean+v, max(s.max, v), s.known+1
		}
	}
	if s.known > 0 {
		s.mean /= float64(s.known)
	}
	return s
}

func (s zoneSummary) meanText() string { return knownPercent(s.mean, s.known > 0) }

func (s zoneSummary) maxText() string { return knownPercent(s.max, s.known > 0) }
