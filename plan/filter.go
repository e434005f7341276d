package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// Filter selects the part of a plan that a report shows. An empty list selects everything; otherwise one of its names
// must match.
type Filter struct{ Namespaces, Nodes, Strategies []string }

// IsEmpty reports whether the filter selects everything.
func (f *Filter) IsEmpty() bool { return len(f.Namespaces)+len(f.Nodes)+len(f.Strategies) == 0 }

// String names what the filter selects.
func (f *Filter) String() string {
	var parts []string
	for _, x := range []struct {
		what  string
		names []string
	}{{"namespace", f.Namespaces}, {"node", f.Nodes}, {"strategy", f.Strategies}} {
		if len(x.names) > 0 {
			parts = append(parts, x.what+" "+strings.Join(x.names, " or "))
		}
	}
	return strings.Join(parts, ", ")
}

// Matches reports whether the filter selects something in a namespace that is about a strategy and some nodes.
func (f *Filter) Matches(namespace, strategy string, nodes ...string) bool {
	return (len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace)) &&
		(len(f.Strategies) == 0 || slices.Contains(f.Strategies, strategy)) &&
		(len(f.Nodes) == 0 || slices.ContainsFunc(nodes, func(n string) bool { return n != "" && slices.Contains(f.Nodes, n) }))
}

// Filtered says of which plan another one is a part, and which part it is.
type Filtered struct {
	By Filter
	Of *Plan
}

// Whole returns the plan of which this one is a part, or the plan itself.
func (p *Plan) Whole() *Plan {
	if p.Filtered == nil {
		return p
	}
	return p.Filtered.Of
}

// LeftOut counts the moves that the filter leaves out, and all moves, with those of the proposals.
func (p *Plan) LeftOut() (left, all int) {
	all = len(p.Whole().Moves)
	left = all - len(p.Moves)
	for i := range p.Proposals {
		l, a := p.Proposals[i].Plan.LeftOut()
		left, all = left+l, all+a
	}
	return left, all
}

// FilterText says which part of a plan this is, or returns "" for a whole plan.
func (p *Plan) FilterText() string {
	if p.Filtered == nil {
		return ""
	}
	left, all := p.LeftOut()
	return fmt.Sprintf("Filtered: shows only %s; %d of %s %s left out", p.Filtered.By.String(), left, plural.Count(all, "move"), plural.Choose(left, "is", "are"))
}

// Select returns the part of a plan that the filter selects: the moves, the goals that match or that a shown move
// serves, the pods that stay, and the nodes and workloads that the filter names or that shown moves and goals are
// about. What describes the whole plan stays: its ID, score, minimum, inputs and blocks.
func (f *Filter) Select(p Plan) Plan {
	if f.IsEmpty() {
		return p
	}
	whole := p
	p.Filtered = &Filtered{By: *f, Of: &whole}
	waves, goals, nodes, workloads := map[int]bool{}, map[string]bool{}, map[string]bool{}, map[ObjectRef]bool{}
	p.Moves = keep(p.Moves, func(m *Move) bool { return f.Matches(m.Pod.Namespace, m.Strategy, m.From, m.To) })
	for i := range p.Moves {
		m := &p.Moves[i]
		waves[m.Wave], nodes[m.From], nodes[m.To] = true, true, true
		workloads[ObjectRef{Kind: m.Owner.Kind, Namespace: m.Pod.Namespace, Name: m.Owner.Name}] = true
		for _, id := range m.Goals {
			goals[id] = true
		}
	}
	p.Goals = keep(p.Goals, func(g *Goal) bool { return goals[g.ID] || f.Matches(g.Subject.Namespace, g.Strategy, g.nodes()...) })
	clear(goals)
	for i := range p.Goals {
		g := &p.Goals[i]
		goals[g.ID], workloads[ObjectRef{Kind: g.Subject.Kind, Namespace: g.Subject.Namespace, Name: g.Subject.Name}] = true, true
		for _, n := range g.nodes() {
			nodes[n] = true
		}
	}
	p.PodGoals, p.OmittedGoals = nil, nil // they count goals that are left out
	for _, s := range []*State{&p.Before, &p.After} {
		s.Nodes = keep(s.Nodes, func(n *NodeState) bool { return nodes[n.Name] || slices.Contains(f.Nodes, n.Name) })
		s.Workloads = keep(s.Workloads, func(w *WorkloadState) bool {
			return workloads[ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}] || slices.Contains(f.Namespaces, w.Namespace)
		})
	}
	p.Bound.UnmetGoals = keep(p.Bound.UnmetGoals, func(u *UnmetGoal) bool { return goals[u.Goal] })
	p.Bound.ResidualByGoal = maps.Clone(p.Bound.ResidualByGoal)
	maps.DeleteFunc(p.Bound.ResidualByGoal, func(id string, _ float64) bool { return !goals[id] })
	p.Bound.BlockedBy = nil // it names no goal
	p.Hints = keep(p.Hints, func(h *WaveHints) bool { return waves[h.Wave] })
	p.Pressure = keep(p.Pressure, func(h *PressureHint) bool { return nodes[h.Node] || slices.Contains(f.Nodes, h.Node) })
	p.Strategies = keep(p.Strategies, func(st *StrategyState) bool { return len(f.Strategies) == 0 || slices.Contains(f.Strategies, st.Name) })
	p.Rejections = f.rejections(p.Rejections)
	p.Proposals = slices.Clone(p.Proposals)
	for i := range p.Proposals {
		p.Proposals[i].Plan = f.Select(p.Proposals[i].Plan)
	}
	return p
}

// rejections selects the pods that stay, and counts those of them that the plan lists. A reason that is about no
// strategy holds for each.
func (f *Filter) rejections(r Rejections) Rejections {
	out := Rejections{Counts: map[Code]int{}, Samples: keep(r.Samples, func(x *Rejection) bool {
		strategy := x.Strategy
		if strategy == "" && len(f.Strategies) > 0 {
			strategy = f.Strategies[0]
		}
		return f.Matches(x.Pod.Namespace, strategy, x.Node)
	})}
	for _, x := range out.Samples {
		out.Counts[x.Reason.Code]++
	}
	return out
}

// nodes returns the nodes that a goal names.
func (g *Goal) nodes() []string {
	if g.Subject.Kind == "Node" {
		return []string{g.Subject.Name}
	}
	return []string{g.From}
}

// keep returns the elements for which is returns true. An empty result is no nil, unless all is.
func keep[T any](all []T, is func(*T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !is(&x) })
}
