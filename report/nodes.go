package report

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// defaultResources are the resources of every table. The wide form adds the others.
var defaultResources = []string{"cpu", "memory"}

func (t *table) resources(p plan.Plan) []string {
	if !t.wide {
		return defaultResources
	}
	extra := map[string]bool{}
	for _, n := range p.Before.Nodes {
		for r := range n.Requested {
			extra[r] = true
		}
	}
	for _, r := range defaultResources {
		delete(extra, r)
	}
	return append(append([]string{}, defaultResources...), sortedKeys(extra)...)
}

// nodes writes requests before and after the plan, and usage where it is known. In a
// large cluster it shows only nodes that change or that have a goal.
func (t *table) nodes(p plan.Plan) {
	names := t.resources(p)
	heads := append([]string{"NODE", "ZONE"}, nowAfterHeads(names)...)
	title := "Nodes: share of allocatable that pods request"
	used := usedResources(p)
	if len(used) > 0 {
		title += ", and share in use" + usageSource(p)
	}
	if t.wide {
		used = union(defaultResources, used)
	}
	for _, r := range used {
		name := strings.ToUpper(safe(r))
		heads = append(heads, ">"+name+" USED NOW", ">"+name+" USED AFTER")
	}
	after := map[string]plan.NodeState{}
	for _, n := range p.After.Nodes {
		after[n.Name] = n
	}
	touched := touchedNodes(p)
	g, total := columns(heads...), len(p.Before.Nodes)
	for _, n := range p.Before.Nodes {
		if !t.wide && total > maxLines && !touched[n.Name] {
			continue
		}
		cells := []string{safe(n.Name), orDash(safe(n.Zone))}
		cells = append(cells, nowAfterCells(names, n.Requested, after[n.Name].Requested)...)
		cells = append(cells, nowAfterCells(used, n.Used, after[n.Name].Used)...)
		g.row(cells...)
	}
	unchanged := total - len(g.rows)
	t.section(title, g, maxLines)
	if unchanged > 0 && len(g.rows) > 0 {
		t.line("  %s without moves or goals (-o wide shows all)", count(unchanged, "node"))
	}
}

// usageSource names the statistic and the source of usage.
func usageSource(p plan.Plan) string {
	for _, in := range p.Inputs {
		if in.Statistic != "" {
			return " (" + safe(in.Statistic) + ", " + safe(in.Source) + ")"
		}
	}
	return ""
}

// usedResources returns the resources with known usage on any node, sorted.
func usedResources(p plan.Plan) []string {
	known := map[string]bool{}
	for _, n := range p.Before.Nodes {
		for r := range n.Used {
			known[r] = true
		}
	}
	return sortedKeys(known)
}

// union returns a, followed by the elements of b that a lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func touchedNodes(p plan.Plan) map[string]bool {
	touched := map[string]bool{}
	for _, m := range p.Moves {
		touched[m.From], touched[m.To] = true, true
	}
	for _, g := range p.Goals {
		if g.Subject.Kind == "Node" {
			touched[g.Subject.Name] = true
		}
	}
	return touched
}

// nowAfterHeads returns two headings for each resource.
func nowAfterHeads(names []string) []string {
	heads := make([]string, 0, 2*len(names))
	for _, r := range names {
		name := strings.ToUpper(safe(r))
		heads = append(heads, ">"+name+" NOW", ">"+name+" AFTER")
	}
	return heads
}

func nowAfterCells(names []string, now, after map[string]float64) []string {
	cells := make([]string, 0, 2*len(names))
	for _, r := range names {
		cells = append(cells, share(now, r), share(after, r))
	}
	return cells
}

func share(m map[string]float64, resource string) string {
	v, ok := m[resource]
	if !ok {
		return "-"
	}
	return percent(v)
}

// zones writes the average over the nodes of each zone. The plan has fractions and no
// node sizes, so small and large nodes count the same.
func (t *table) zones(p plan.Plan) {
	if len(zoneNames(p)) < 2 {
		return
	}
	names := t.resources(p)
	before, after := zoneMeans(p.Before.Nodes), zoneMeans(p.After.Nodes)
	g := columns(append([]string{"ZONE", ">NODES"}, nowAfterHeads(names)...)...)
	for _, z := range sortedKeys(before) {
		cells := []string{safe(z), number(before[z][nodeCount])}
		g.row(append(cells, nowAfterCells(names, before[z], after[z])...)...)
	}
	t.section("Zones: average of their nodes", g, maxLines)
}

// nodeCount is the key of the number of nodes in the means of a zone. No resource has
// an empty name.
const nodeCount = ""

func zoneMeans(nodes []plan.NodeState) map[string]map[string]float64 {
	sums, counts := map[string]map[string]float64{}, map[string]map[string]int{}
	size := map[string]int{}
	for _, n := range nodes {
		if n.Zone == "" {
			continue
		}
		if sums[n.Zone] == nil {
			sums[n.Zone], counts[n.Zone] = map[string]float64{}, map[string]int{}
		}
		size[n.Zone]++
		for r, v := range n.Requested {
			sums[n.Zone][r] += v
			counts[n.Zone][r]++
		}
	}
	for z, means := range sums {
		for r := range means {
			means[r] /= float64(counts[z][r])
		}
		means[nodeCount] = float64(size[z])
	}
	return sums
}
