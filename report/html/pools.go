package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// pools summarizes the nodes by pool. It returns nil if no label names the pools.
func (ns *nodeSet) pools() []Table {
	if ns.view.PoolLabel == "" || ns.omitted > 0 {
		return nil
	}
	type sums struct {
		nodes, leave, arrive int
		now, after           [2]float64
		hotNow, hotAfter     [2]int
	}
	pools := map[string]*sums{}
	of := func(name string) *sums {
		pool := ns.view.Pools[name]
		if pools[pool] == nil {
			pools[pool] = &sums{}
		}
		return pools[pool]
	}
	for _, n := range ns.all {
		s := of(n.now.Name)
		s.nodes++
		for i, m := range ns.measures {
			now, after := m.value(n.now), m.value(n.after)
			s.now[i], s.after[i] = s.now[i]+now, s.after[i]+after
			if t, has := ns.target(m); has && now > t+shareTolerance {
				s.hotNow[i]++
			}
			if t, has := ns.target(m); has && after > t+shareTolerance {
				s.hotAfter[i]++
			}
		}
	}
	for i := range ns.shown.Moves {
		m := &ns.shown.Moves[i]
		of(m.From).leave++
		if m.To != "" {
			of(m.To).arrive++
		}
	}
	t := Table{Caption: text("Nodes by pool (label ", code(ns.view.PoolLabel), ")"), Class: "sortable", Heads: heads("Pool", ">Nodes")}
	for _, m := range ns.measures {
		t.Heads = addHeads(t.Heads, ">"+m.label()+": mean")
		if _, has := ns.target(m); has {
			t.Heads = addHeads(t.Heads, ">"+m.label()+": above target")
		}
	}
	t.Heads = addHeads(t.Heads, ">Pods leave", ">Pods arrive")
	names := slices.SortedFunc(maps.Keys(pools), func(a, b string) int {
		return cmp.Or(cmp.Compare(pools[b].nodes, pools[a].nodes), cmp.Compare(a, b))
	})
	if len(names) > maxPools {
		t.Caption = append(t.Caption, text(fmt.Sprintf(": the %d largest of %s", maxPools, number(len(names))))...)
		names = names[:maxPools]
	}
	for _, name := range names {
		s := pools[name]
		row := []Cell{rowCell(cmp.Or(name, "no label")), countCell(s.nodes)}
		for i, m := range ns.measures {
			n := float64(max(1, s.nodes))
			row = append(row, changeCell(percentOf(s.now[i]/n), percentOf(s.after[i]/n)))
			if _, has := ns.target(m); has {
				row = append(row, changeCell(number(s.hotNow[i]), number(s.hotAfter[i])))
			}
		}
		t.Rows = append(t.Rows, append(row, countCell(s.leave), countCell(s.arrive)))
	}
	return []Table{t}
}

// extremes lists the fullest nodes and those that change most, and all nodes of a cluster that is not large.
func (ns *nodeSet) extremes() (both []Table, all []Details) {
	by := func(key func(node) float64) []node {
		out := slices.Clone(ns.all)
		slices.SortStableFunc(out, func(a, b node) int { return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(a.now.Name, b.now.Name)) })
		return out[:min(maxOpen, len(out))]
	}
	most := func(of func(now, after float64) float64) func(node) float64 {
		return func(n node) (v float64) {
			for _, m := range ns.measures {
				v = max(v, of(m.value(n.now), m.value(n.after)))
			}
			return v
		}
	}
	full := by(most(func(_, after float64) float64 { return after }))
	change := by(most(func(now, after float64) float64 { return max(after-now, now-after) }))
	both = []Table{ns.nodeTable("Fullest after the plan", full), ns.nodeTable("Largest change", change)}
	if len(ns.all) <= maxNodeRows {
		what := "All "
		if ns.omitted > 0 {
			what = "The plan keeps "
		}
		all = []Details{{Summary: what + count(len(ns.all), "node"), Tables: []Table{ns.nodeTable("By zone", ns.all)}}}
	}
	return both, all
}

func (ns *nodeSet) nodeTable(caption string, nodes []node) Table {
	t := Table{Caption: text(caption), Class: "sortable", Heads: heads("Node", "Zone")}
	if ns.view.PoolLabel != "" {
		t.Heads = addHeads(t.Heads, "Pool")
	}
	for _, m := range ns.measures {
		t.Heads = addHeads(t.Heads, ">"+m.label())
	}
	for _, n := range nodes {
		row := []Cell{rowCell(n.now.Name), nameCell(zoneLabel(n.now.Zone))}
		if ns.view.PoolLabel != "" {
			row = append(row, nameCell(cmp.Or(ns.view.Pools[n.now.Name], "no label")))
		}
		for _, m := range ns.measures {
			if !m.known(n.now) || !m.known(n.after) {
				row = append(row, Cell{Text: "unknown", Class: "r", Same: true})
				continue
			}
			row = append(row, changeCell(percentOf(m.value(n.now)), percentOf(m.value(n.after))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
