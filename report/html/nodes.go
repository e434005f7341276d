package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/view"
)

const (
	// maxLanes is the number of nodes up to which each node has a line of its own.
	maxLanes = 60
	// maxNodeRows is the number of nodes up to which the details list all of them.
	maxNodeRows = 500
	// maxBlocks is the number of zones up to which two heat maps fit beside each other.
	maxBlocks = 6
	maxPools  = 50
)

// Nodes is the section about nodes: a line for each node, or a heat map.
type Nodes struct {
	ID, Title string
	Lead      answers.Text
	Charts    []NodeChart
	Tables    []Table // of pools, or of the extremes that a stored plan keeps
	Notes     []answers.Text
	Details   []Details
}

// NodeChart shows up to two resources.
type NodeChart struct {
	Summary string // of the details that contain the chart; empty for an open one
	Lanes   *LaneTable
	Heats   []Heat
	Stacked bool // the heat maps stand below each other
}

// LaneTable has a line for each node.
type LaneTable struct {
	Caption string
	Heads   []LaneHead
	Rows    []LaneRow
}

// LaneHead is the scale of a resource.
type LaneHead struct{ Label, Target, TargetWords string }

// LaneRow is one node.
type LaneRow struct {
	Node, Zone string
	Lanes      []Lane
}

// Lane is the share of one resource of a node.
type Lane struct {
	Known           bool
	Label           string
	X1, X2, TargetX string
	Change          Cell
}

// Heat counts nodes by zone and by share.
type Heat struct {
	Label, Rest string // of the caption
	Zones       []string
	Rows        []HeatRow
}

// HeatRow is a range of shares.
type HeatRow struct {
	Label string
	Line  bool // the target is the upper end
	Now   []HeatCell
	After []HeatCell
}

// HeatCell is a number of nodes. Level is 0 to 6.
type HeatCell struct {
	Count string
	Level int
}

// measure is a resource, by requests or by measured use.
type measure struct {
	Resource string
	Load     bool
}

func (m measure) label() string { return resourceLabel(m.Resource) }

func (m measure) of(n *plan.NodeState) map[string]float64 {
	if m.Load {
		return n.Used
	}
	return n.Requested
}

func (m measure) known(n *plan.NodeState) bool {
	_, known := m.of(n)[m.Resource]
	return known
}

func (m measure) value(n *plan.NodeState) float64 { return m.of(n)[m.Resource] }

// node is a node now and after the plan.
type node struct{ now, after *plan.NodeState }

// nodePairs returns the nodes ordered by zone and name.
func nodePairs(p *plan.Plan) []node {
	after := make(map[string]*plan.NodeState, len(p.After.Nodes))
	for i := range p.After.Nodes {
		after[p.After.Nodes[i].Name] = &p.After.Nodes[i]
	}
	out := make([]node, 0, len(p.Before.Nodes))
	for i := range p.Before.Nodes {
		n := &p.Before.Nodes[i]
		out = append(out, node{n, cmp.Or(after[n.Name], n)})
	}
	slices.SortFunc(out, func(a, b node) int {
		return cmp.Or(-compareBool(a.now.Zone != "", b.now.Zone != ""), cmp.Compare(a.now.Zone, b.now.Zone), cmp.Compare(a.now.Name, b.now.Name))
	})
	return out
}

// nodeSet are the nodes of a plan, and the measures that the page shows first, at least one, and later.
type nodeSet struct {
	view             *view.View
	shown            *plan.Plan
	omitted          int // nodes that a stored plan leaves out
	zones            []string
	effect           string // words before what the plan does
	all              []node
	measures, others []measure
}

// setMeasures chooses the measures that the page shows first, and the others. Use comes first if a target is about use.
func (ns *nodeSet) setMeasures() {
	var requests, use []measure
	has := map[measure]bool{}
	for _, n := range ns.all {
		for res := range n.now.Requested {
			has[measure{res, false}] = true
		}
		for res := range n.now.Used {
			has[measure{res, true}] = true
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(has), func(a, b measure) int { return cmp.Compare(a.Resource, b.Resource) }) {
		if m.Load {
			use = append(use, m)
		} else {
			requests = append(requests, m)
		}
	}
	byUse := slices.ContainsFunc(ns.view.Targets, func(t target) bool { return t.Basis == plan.BasisLoad })
	if byUse && len(use) > 0 {
		requests, use = use, requests
	}
	if len(requests) == 0 {
		requests = []measure{{Resource: "cpu"}}
	}
	n := min(2, len(requests))
	ns.measures, ns.others = requests[:n:n], append(slices.Clone(requests[n:]), use...)
}

// target returns the share that strategies want nodes to stay at or below.
func (ns *nodeSet) target(m measure) (float64, bool) {
	for _, t := range ns.view.Targets {
		if t.Resource == m.Resource && (t.Basis == plan.BasisLoad) == m.Load {
			return t.Limit, true
		}
	}
	return 0, false
}

// shareTolerance is larger than the rounding of shares.
const shareTolerance = 1e-6

// above counts the nodes above the target, now and after the plan.
func (ns *nodeSet) above(m measure) (now, after int) {
	t, has := ns.target(m)
	for _, n := range ns.all {
		if has && m.value(n.now) > t+shareTolerance {
			now++
		}
		if has && m.value(n.after) > t+shareTolerance {
			after++
		}
	}
	return now, after
}

// unknown counts the nodes for which the measure is unknown.
func (ns *nodeSet) unknown(m measure) (n int) {
	for _, x := range ns.all {
		if !m.known(x.now) {
			n++
		}
	}
	return n
}

func (r *Report) makeNodes() Nodes {
	s := Nodes{ID: "nodes", Title: "Nodes"}
	if len(r.nodes.all) == 0 {
		s.Lead = text("Nothing is known about nodes.")
		return s
	}
	s.Lead = r.nodes.nodesLead()
	if n := r.omitted.Nodes; n > 0 {
		s.Notes = append(s.Notes, text(r.leavesOut(count(n, "node"), "It keeps the fullest nodes, and those that change.")))
	}
	if r.omitted.Nodes > 0 && len(r.nodes.all) > maxLanes { // shares of some nodes say nothing about zones
		s.Tables, s.Details = r.nodes.extremes()
		return s
	}
	s.Charts = r.nodes.charts(r.nodes.measures, "")
	if others := r.nodes.others; len(others) > 0 {
		s.Charts = append(s.Charts, r.nodes.charts(others, "The same by "+basisWords(others[0]))...)
	}
	if len(r.nodes.all) > maxLanes {
		s.Tables = r.nodes.pools()
		both, all := r.nodes.extremes()
		s.Details = append([]Details{{Summary: fmt.Sprintf("The %d fullest nodes after the plan, and the %d that change most", len(both[0].Rows), len(both[1].Rows)), Tables: both}}, all...)
	}
	return s
}

func basisWords(m measure) string {
	if m.Load {
		return "measured use"
	}
	return "requests"
}

func (ns *nodeSet) nodesLead() answers.Text {
	lead := ns.effect + "Shares are what pods request of what a node can give. "
	if ns.measures[0].Load {
		lead = ns.effect + "Shares are what nodes were measured to use of what they can give. "
	}
	if n := ns.unknown(ns.measures[0]); n > 0 {
		lead += fmt.Sprintf("The use of %s is unknown. ", count(n, "node"))
	}
	var changes, at []string
	total, targets := 0, 0
	for _, m := range ns.measures {
		t, has := ns.target(m)
		if !has {
			continue
		}
		targets++
		now, after := ns.above(m)
		total += now + after
		instead := " instead of " + number(now)
		if now == after {
			instead = ", as now,"
		}
		changes = append(changes, fmt.Sprintf("%s%s %s above the %s target", count(after, "node"), instead, verb(after, "is", "are"), resourceWord(m.Resource)))
		for _, n := range ns.all {
			if v := m.value(n.after); v > t-shareTolerance && v < t+shareTolerance && !slices.Contains(at, n.now.Name) {
				at = append(at, n.now.Name)
			}
		}
	}
	switch {
	case targets == 0:
		return text(lead + "No strategy sets a target for nodes.")
	case ns.omitted > 0:
		return text(lead)
	case total > 0 && len(ns.shown.Moves) == 0:
		var parts []string
		for _, m := range ns.measures {
			if now, _ := ns.above(m); now > 0 {
				parts = append(parts, fmt.Sprintf("%s %s above the %s target", count(now, "node"), verb(now, "is", "are"), resourceWord(m.Resource)))
			}
		}
		return text(lead + join(parts) + ".")
	case total > 0:
		return text(lead + "After the plan, " + join(changes) + ".")
	case len(at) > 0 && len(at) <= 3:
		return text(lead+"No node is above its target, now or after the plan. ", list(at), " would be exactly at it.")
	}
	return text(lead + "No node is above its target, now or after the plan.")
}

// charts shows the measures, two in each chart.
func (ns *nodeSet) charts(all []measure, summary string) (out []NodeChart) {
	for some := range slices.Chunk(all, 2) {
		c := NodeChart{Summary: summary, Stacked: len(ns.zones) > maxBlocks}
		if len(ns.all) <= maxLanes {
			c.Lanes = ns.lanes(some)
		} else {
			for _, m := range some {
				c.Heats = append(c.Heats, ns.heat(m))
			}
		}
		out = append(out, c)
	}
	return out
}

// laneX is the position of a share on a scale from 0 to 100%.
func laneX(v float64) string { return share(0.02 + 0.96*part(v, 1)) }

func (ns *nodeSet) lanes(all []measure) *LaneTable {
	t := &LaneTable{Caption: "Share of each node that pods request, by zone"}
	if all[0].Load {
		t.Caption = "Share of each node that is used, by zone"
	}
	limits := make([]float64, len(all))
	for i, m := range all {
		h := LaneHead{Label: m.label()}
		if limit, has := ns.target(m); has {
			limits[i], h.Target = limit, laneX(limit)
			if limit > 0.7 {
				h.TargetWords = "target " + percentOf(limit)
			}
		}
		t.Heads = append(t.Heads, h)
	}
	for _, n := range ns.all {
		row := LaneRow{Node: n.now.Name, Zone: zoneLabel(n.now.Zone)}
		for i, m := range all {
			row.Lanes = append(row.Lanes, newLane(m, n, limits[i], t.Heads[i].Target))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func newLane(m measure, n node, limit float64, targetX string) Lane {
	if !m.known(n.now) || !m.known(n.after) {
		return Lane{}
	}
	now, after := m.value(n.now), m.value(n.after)
	l := Lane{Known: true, X1: laneX(now), X2: laneX(after), TargetX: targetX, Change: changeCell(percentOf(now), percentOf(after)),
		Label: percentOf(now) + " now, " + percentOf(after) + " after"}
	if targetX != "" {
		l.Label += ", target " + percentOf(limit)
	}
	return l
}
