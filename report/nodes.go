package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// defaultResources are the resources of every table. The wide form adds the others.
var defaultResources = []string{"cpu", "memory"}

// requestedResources returns the resources whose requests the report shows.
func requestedResources(p plan.Plan, wide bool) []string {
	if !wide {
		return defaultResources
	}
	return appendMissing(defaultResources, resourceNames(p, func(n plan.NodeState) map[string]float64 { return n.Requested }))
}

// writeNodes writes requests before and after the plan, and known usage. For a large cluster it shows only nodes that
// change or that have a goal.
func (t *planTable) writeNodes(p plan.Plan) {
	names := requestedResources(p, t.out.wide)
	title := "Nodes: share of allocatable that pods request"
	used := resourceNames(p, func(n plan.NodeState) map[string]float64 { return n.Used })
	if len(used) > 0 {
		title += ", and share in use" + usageSource(p)
	}
	if t.out.wide {
		used = appendMissing(defaultResources, used)
	}
	g := layout.NewGrid(append(append([]string{"NODE", "ZONE"}, resourceHeads(names, "")...), resourceHeads(used, " USED")...)...)
	after := map[string]plan.NodeState{}
	for _, n := range p.After.Nodes {
		after[n.Name] = n
	}
	touched := nodesWithMovesOrGoals(p)
	total, changes := len(p.Before.Nodes), []float64{}
	for _, n := range p.Before.Nodes {
		if !t.out.wide && total > maxSmallCluster && !touched[n.Name] {
			continue
		}
		cells := []string{escape(n.Name), orDash(escape(n.Zone))}
		cells = append(cells, changeCells(names, n.Requested, after[n.Name].Requested)...)
		cells = append(cells, changeCells(used, n.Used, after[n.Name].Used)...)
		g.Add(cells...)
		changes = append(changes, max(largestChange(n.Requested, after[n.Name].Requested), largestChange(n.Used, after[n.Name].Used)))
	}
	var notes []string
	if unchanged := total - g.Len(); unchanged > 0 {
		notes = []string{plural.Count(unchanged, "node") + " without moves or goals (-o wide shows all)"}
	}
	t.out.addSection(nodeRank, layout.Section{Title: title + nowThen, ShortTitle: "Nodes" + nowThen, Picked: "with the largest change", Grid: g,
		Notes: notes, Order: orderBy(g.Len(), func(a, b int) int { return cmp.Compare(changes[b], changes[a]) })})
}

// nowThen ends the titles of sections with changeText.
const nowThen = ", now -> after the plan"

// changeText writes two values, or one if they are equal.
func changeText(now, after string) string {
	if now == after {
		return now
	}
	return now + " -> " + after
}

// largestChange returns the largest difference of a resource.
func largestChange(now, after map[string]float64) float64 {
	change := 0.0
	for r, v := range now {
		change = max(change, math.Abs(after[r]-v))
	}
	return change
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

// resourceHeads returns a heading for each resource. suffix follows the name of the resource.
func resourceHeads(names []string, suffix string) []string {
	var heads []string
	for _, r := range names {
		heads = append(heads, ">"+strings.ToUpper(escape(r))+suffix)
	}
	return heads
}

// changeCells returns a cell for each resource.
func changeCells(names []string, now, after map[string]float64) []string {
	var cells []string
	for _, r := range names {
		cells = append(cells, changeText(percentOf(now, r), percentOf(after, r)))
	}
	return cells
}

func percentOf(m map[string]float64, resource string) string {
	v, ok := m[resource]
	return knownPercent(v, ok)
}

func knownPercent(v float64, known bool) string {
	if known {
		return percent.Of(v)
	}
	return "-"
}
