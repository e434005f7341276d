package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// defaultResources are the resources of every table. The wide form adds the others.
var defaultResources = []string{"cpu", "memory"}

// requestedResources returns the resources whose requests the report shows.
func (t *table) requestedResources(p plan.Plan) []string {
	if !t.wide {
		return defaultResources
	}
	return appendMissing(defaultResources, resourceNames(p, func(n plan.NodeState) map[string]float64 { return n.Requested }))
}

// writeNodes writes requests before and after the plan, and known usage. For a large cluster it shows only nodes that
// change or that have a goal.
func (t *table) writeNodes(p plan.Plan) {
	names := t.requestedResources(p)
	heads := append([]string{"NODE", "ZONE"}, nowAfterHeads(names, "")...)
	title := "Nodes: share of allocatable that pods request"
	used := resourceNames(p, func(n plan.NodeState) map[string]float64 { return n.Used })
	if len(used) > 0 {
		title += ", and share in use" + usageSource(p)
	}
	if t.wide {
		used = appendMissing(defaultResources, used)
	}
	heads = append(heads, nowAfterHeads(used, " USED")...)
	after := map[string]plan.NodeState{}
	for _, n := range p.After.Nodes {
		after[n.Name] = n
	}
	touched := nodesWithMovesOrGoals(p)
	g, total := newGrid(heads...), len(p.Before.Nodes)
	for _, n := range p.Before.Nodes {
		if !t.wide && total > maxLines && !touched[n.Name] {
			continue
		}
		cells := []string{escape(n.Name), orDash(escape(n.Zone))}
		cells = append(cells, nowAfterCells(names, n.Requested, after[n.Name].Requested)...)
		cells = append(cells, nowAfterCells(used, n.Used, after[n.Name].Used)...)
		g.addRow(cells...)
	}
	unchanged := total - len(g.rows)
	t.addSection(title, g, maxLines)
	if unchanged > 0 && len(g.rows) > 0 {
		t.addLine("  %s without moves or goals (-o wide shows all)", plural.Count(unchanged, "node"))
	}
}

// usageSource names the statistic and the source of usage.
func usageSource(p plan.Plan) string {
	for _, in := range p.Inputs {
		if in.Statistic != "" {
			return " (" + escape(in.Statistic) + ", " + escape(in.Source) + ")"
		}
	}
	return ""
}

// resourceNames returns the resources for which any node has an amount, sorted.
func resourceNames(p plan.Plan, amounts func(plan.NodeState) map[string]float64) []string {
	known := map[string]float64{}
	for _, n := range p.Before.Nodes {
		maps.Copy(known, amounts(n))
	}
	return sortedKeys(known)
}

// appendMissing returns a, followed by the elements of b that a does not contain.
func appendMissing(a, b []string) []string {
	return append(slices.Clone(a), slices.DeleteFunc(b, func(x string) bool { return slices.Contains(a, x) })...)
}

func nodesWithMovesOrGoals(p plan.Plan) map[string]bool {
	touched := map[string]bool{}
	for _, m := range p.Moves {
		touched[m.From] = true
		if m.To != "" {
			touched[m.To] = true
		}
	}
	for _, g := range p.Goals {
		if g.Subject.Kind == "Node" {
			touched[g.Subject.Name] = true
		}
	}
	return touched
}

// nowAfterHeads returns two headings for each resource. suffix follows the name of the resource.
func nowAfterHeads(names []string, suffix string) []string {
	var heads []string
	for _, r := range names {
		name := ">" + strings.ToUpper(escape(r)) + suffix
		heads = append(heads, name+" NOW", name+" AFTER")
	}
	return heads
}

func nowAfterCells(names []string, now, after map[string]float64) []string {
	var cells []string
	for _, r := range names {
		cells = append(cells, percentOf(now, r), percentOf(after, r))
	}
	return cells
}

func percentOf(m map[string]float64, resource string) string {
	if v, ok := m[resource]; ok {
		return percent.Of(v)
	}
	return "-"
}

// writeZones writes the average over the nodes of each zone. A plan contains fractions and no node sizes, so small and
// large nodes have the same weight.
func (t *table) writeZones(p plan.Plan) {
	if len(zoneNames(p)) < 2 {
		return
	}
	names := t.requestedResources(p)
	before, size := zoneMeans(p.Before.Nodes)
	after, _ := zoneMeans(p.After.Nodes)
	g := newGrid(append([]string{"ZONE", ">NODES"}, nowAfterHeads(names, "")...)...)
	for _, z := range sortedKeys(before) {
		g.addRow(append([]string{escape(z), strconv.Itoa(size[z])}, nowAfterCells(names, before[z], after[z])...)...)
	}
	t.addSection("Zones: average of their nodes", g, maxLines)
}

// zoneMeans returns the mean requests by zone and resource, and the number of nodes by zone.
func zoneMeans(nodes []plan.NodeState) (means map[string]map[string]float64, size map[string]int) {
	means, size = map[string]map[string]float64{}, map[string]int{}
	counts := map[[2]string]float64{}
	for _, n := range nodes {
		if n.Zone == "" {
			continue
		}
		if means[n.Zone] == nil {
			means[n.Zone] = map[string]float64{}
		}
		size[n.Zone]++
		for r, v := range n.Requested {
			means[n.Zone][r] += v
			counts[[2]string{n.Zone, r}]++
		}
	}
	for z := range means {
		for r := range means[z] {
			means[z][r] /= counts[[2]string{z, r}]
		}
	}
	return means, size
}
