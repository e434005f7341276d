package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// pools summarizes the nodes by pool. It returns nil if no label names the pools.
func (r *Report) pools() []Table {
	if r.view.PoolLabel == "" || r.omitted.Nodes > 0 {
		return nil
	}
	type sums struct {
		nodes, leave, arrive int
		now, after           [2]float64
		hotNow, hotAfter     [2]int
	}
	pools := map[string]*sums{}
	of := func(name string) *sums {
		pool := r.view.Pools[name]
		if pools[pool] == nil {
			pools[pool] = &sums{}
		}
		return pools[pool]
	}
	for _, n := range r.nodes {
		s := of(n.now.Name)
		s.nodes++
		for i, m := range r.measures {
			now, after := m.value(n.now), m.value(n.after)
			s.now[i], s.after[i] = s.now[i]+now, s.after[i]+after
			if t, has := r.target(m); has && now > t+shareTolerance {
				s.hotNow[i]++
			}
			if t, has := r.target(m); has && after > t+shareTolerance {
				s.hotAfter[i]++
			}
		}
	}
	for i := range r.shown.Moves {
		m := &r.shown.Moves[i]
		of(m.From).leave++
		if m.To != "" {
			of(m.To).arrive++
		}
	}
	t := Table{Caption: text("Nodes by pool (label ", code(r.view.PoolLabel), ")"), Class: "sortable", Heads: heads("Pool", ">Nodes")}
	for _, m := range r.measures {
		t.Heads = addHeads(t.Heads, ">"+m.label()+": mean")
		if _, has := r.target(m); has {
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
		for i, m := range r.measures {
			n := float64(max(1, s.nodes))
			row = append(row, changeCell(percentOf(s.now[i]/n), percentOf(s.after[i]/n)))
			if _, has := r.target(m); has {
				row = append(row, changeCell(number(s.hotNow[i]), number(s.hotAfter[i])))
			}
		}
		t.Rows = append(t.Rows, append(row, countCell(s.leave), countCell(s.arrive)))
	}
	return []Table{t}
}

// extremes lists the fullest nodes and those that change most, and all nodes of a cluster that is not large.
func (r *Report) extremes() (both []Table, all []Details) {
	by := func(key func(node) float64) []node {
		out := slices.Clone(r.nodes)
		slices.SortStableFunc(out, func(a, b node) int { return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(a.now.Name, b.now.Name)) })
		return out[:min(maxOpen, len(out))]
	}
	most := func(of func(now, after float64) float64) func(node) float64 {
		return func(n node) (v float64) {
			for _, m := range r.measures {
				v = max(v, of(m.value(n.now), m.value(n.after)))
			}
			return v
		}
	}
	full := by(most(func(_, after float64) float64 { return after }))
	change := by(most(func(now, after float64) float64 { return max(after-now, now-after) }))
	both = []Table{r.nodeTable("Fullest after the plan", full), r.nodeTable("Largest change", change)}
	if len(r.nodes) <= maxNodeRows {
		what := "All "
		if r.omitted.Nodes > 0 {
			what = "The plan keeps "
		}
		all = []Details{{Summary: what + count(len(r.nodes), "node"), Tables: []Table{r.nodeTable("By zone", r.nodes)}}}
	}
	return both, all
}

func (r *Report) nodeTable(caption string, nodes []node) Table {
	t := Table{Caption: text(caption), Class: "sortable", Heads: heads("Node", "Zone")}
	if r.view.PoolLabel != "" {
		t.Heads = addHeads(t.Heads, "Pool")
	}
	for _, m := range r.measures {
		t.Heads = addHeads(t.Heads, ">"+m.label())
	}
	for _, n := range nodes {
		row := []Cell{rowCell(n.now.Name), nameCell(zoneLabel(n.now.Zone))}
		if r.view.PoolLabel != "" {
			row = append(row, nameCell(cmp.Or(r.view.Pools[n.now.Name], "no label")))
		}
		for _, m := range r.measures {
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
