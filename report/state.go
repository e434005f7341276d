package report

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// resources are those a table always shows; wide adds the others.
var resources = []string{"cpu", "memory"}

func (t *table) resources(p plan.Plan) []string {
	if !t.wide {
		return resources
	}
	extra := map[string]bool{}
	for _, n := range p.Before.Nodes {
		for r := range n.Requested {
			extra[r] = true
		}
	}
	for _, r := range resources {
		delete(extra, r)
	}
	return append(append([]string{}, resources...), sortedKeys(extra)...)
}

// nodes writes requests before and after, and use where it is known. A cluster too large
// for the table is shown by the nodes that change or that a goal is about.
func (t *table) nodes(p plan.Plan) {
	names := t.resources(p)
	heads := append([]string{"NODE", "ZONE"}, nowAfter(names)...)
	title := "Nodes: share of allocatable that pods request"
	used := usedResources(p)
	if len(used) > 0 {
		title += ", and that is used" + usedBy(p)
	}
	if t.wide {
		used = union(resources, used)
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
		cells = append(cells, pairs(names, n.Requested, after[n.Name].Requested)...)
		cells = append(cells, pairs(used, n.Used, after[n.Name].Used)...)
		g.row(cells...)
	}
	quiet := total - len(g.rows)
	t.section(title, g, maxLines)
	if quiet > 0 && len(g.rows) > 0 {
		t.line("  %s not touched (-o wide shows all)", count(quiet, "node"))
	}
}

// usedBy says what the figures of use are, and of which source.
func usedBy(p plan.Plan) string {
	for _, in := range p.Inputs {
		if in.Statistic != "" {
			return " (" + safe(in.Statistic) + ", " + safe(in.Source) + ")"
		}
	}
	return ""
}

// usedResources are those of which the use of a node is known, sorted.
func usedResources(p plan.Plan) []string {
	known := map[string]bool{}
	for _, n := range p.Before.Nodes {
		for r := range n.Used {
			known[r] = true
		}
	}
	return sortedKeys(known)
}

// union is a and what b has more.
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

// nowAfter gives each resource its two headings.
func nowAfter(names []string) []string {
	heads := make([]string, 0, 2*len(names))
	for _, r := range names {
		name := strings.ToUpper(safe(r))
		heads = append(heads, ">"+name+" NOW", ">"+name+" AFTER")
	}
	return heads
}

func pairs(names []string, now, after map[string]float64) []string {
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

// zones averages the nodes of each zone. The plan has fractions, not sizes, so
// a small node weighs as much as a large one; the title says "average".
func (t *table) zones(p plan.Plan) {
	if len(zoneNames(p)) < 2 {
		return
	}
	names := t.resources(p)
	before, after := zoneMeans(p.Before.Nodes), zoneMeans(p.After.Nodes)
	g := columns(append([]string{"ZONE", ">NODES"}, nowAfter(names)...)...)
	for _, z := range sortedKeys(before) {
		cells := []string{safe(z), number(before[z][nodeCount])}
		g.row(append(cells, pairs(names, before[z], after[z])...)...)
	}
	t.section("Zones: average of their nodes", g, maxLines)
}

// nodeCount keys the number of nodes in a zone's means; no resource has an
// empty name.
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

// workloads writes pods per zone and failure categories: all when wide, else
// those that change, that a goal is about, or that a zone's failure would hit hard.
func (t *table) workloads(p plan.Plan) {
	zones := zoneNames(p)
	if len(zones) == 0 {
		return
	}
	heading := "PODS PER ZONE"
	if len(zones) <= maxZoneColumns {
		heading = "PODS IN " + safe(strings.Join(zones, "/"))
	}
	g := columns("WORKLOAD", heading+" NOW", "AFTER", "IF ITS WORST ZONE FAILS NOW", "AFTER")
	after := map[string]plan.WorkloadState{}
	for _, w := range p.After.Workloads {
		after[workloadName(w)] = w
	}
	wanted := subjects(p)
	var others [][]string
	for _, now := range p.Before.Workloads {
		name := workloadName(now)
		then := after[name]
		cells := []string{safe(name), spread(now.Zones, zones), spread(then.Zones, zones), category(now), category(then)}
		switch {
		case wanted[name] || cells[1] != cells[2]:
			g.row(cells...) // first, so that the limit never hides it
		case t.wide || now.FailureCategory == 1 || now.FailureCategory == 2:
			others = append(others, cells)
		}
	}
	g.rows = append(g.rows, others...)
	t.section("Workloads by zone, and what losing one zone would mean (1 complete loss, 2 substantial, 3 noticeable, 4 minor)", g, maxLines)
}

// subjects names the workloads that a goal is about or a move belongs to.
func subjects(p plan.Plan) map[string]bool {
	names := map[string]bool{}
	for _, g := range p.Goals {
		names[g.Subject.String()] = true
	}
	for _, m := range p.Moves {
		names[plan.ObjectRef{Kind: m.Owner.Kind, Namespace: m.Pod.Namespace, Name: m.Owner.Name}.String()] = true
	}
	return names
}

func workloadName(w plan.WorkloadState) string {
	return plan.ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}.String()
}
