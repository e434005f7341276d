package report

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// nodesToEmpty counts the nodes that a plan could empty, those that it empties, and the moves of
// which these nodes are the only purpose.
type nodesToEmpty struct{ all, emptied, evictions int }

func countNodesToEmpty(p plan.Plan) (n nodesToEmpty) {
	about := map[string]bool{}
	for _, g := range p.Goals {
		if g.Kind == plan.NodeEmpty {
			n.all++
			if about[g.ID] = p.After.Excess[g.ID] <= tiny; about[g.ID] {
				n.emptied++
			}
		}
	}
	for _, m := range p.Moves {
		if !slices.ContainsFunc(m.Goals, func(id string) bool { return !about[id] }) && len(m.Goals) > 0 {
			n.evictions++
		}
	}
	return n
}

// text says how many nodes are emptied by how many evictions, and how many stay.
func (n nodesToEmpty) text() string {
	stay := n.all - n.emptied
	nodes := plural.Count(stay, "node") + " with few requests " + plural.Choose(stay, "stays", "stay")
	switch {
	case n.emptied == 0:
		return "no node emptied; " + nodes
	case stay == 0:
		return fmt.Sprintf("%s emptied by %s", plural.Count(n.emptied, "node"), plural.Count(n.evictions, "eviction"))
	}
	return fmt.Sprintf("%s emptied by %s; %s", plural.Count(n.emptied, "node"), plural.Count(n.evictions, "eviction"), nodes)
}

// emptiedText says how many of the nodes that the plan of a live run empties are empty: every pod was evicted, and no
// replacement has landed there. It returns "" if the plan empties none.
func emptiedText(r plan.RunReport) string {
	planned, emptied := 0, 0
	for _, g := range r.Plan.Goals {
		if g.Kind != plan.NodeEmpty || r.Plan.After.Excess[g.ID] > tiny {
			continue
		}
		planned++
		if !slices.ContainsFunc(r.Plan.Moves, func(m plan.Move) bool { return slices.Contains(m.Goals, g.ID) && !hasLeft(r, m) }) &&
			!slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool { return o.Landed == g.Subject.Name }) {
			emptied++
		}
	}
	if planned == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s emptied", emptied, plural.Count(planned, "node"))
}

// hasLeft reports whether the pod of a move has left its node.
func hasLeft(r plan.RunReport, m plan.Move) bool {
	return slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool {
		return o.Step == m.Step && (o.Outcome == plan.Evicted || o.Outcome == plan.AlreadyGone)
	})
}
