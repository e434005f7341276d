package goal

import (
	"cmp"
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"slices"
	"strings"
)

// Number sorts goals into a stable order and sets their excess. It names the goals with excess g1,
// g2, and so on.
func Number(s *cluster.Snapshot, goals []plan.Goal) []plan.Goal {
	goals = sortedByKey(goals)
	t := NewTracker(s, goals)
	n := 0
	for i := range goals {
		goals[i].Excess = t.ReportedExcess(i)
		if goals[i].Excess > 0 && !goals[i].Constraint {
			n++
			goals[i].ID = fmt.Sprintf("g%d", n)
		}
	}
	return goals
}

// sortedByKey sorts goals by their keys. It computes each key once.
func sortedByKey(goals []plan.Goal) []plan.Goal {
	type keyed struct {
		key string
		at  int
	}
	order := make([]keyed, len(goals))
	for i := range goals {
		order[i] = keyed{Key(goals[i]), i}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	out := make([]plan.Goal, len(goals))
	for i, x := range order {
		out[i] = goals[x.at]
	}
	return out
}

// Key identifies a goal across snapshots.
func Key(g plan.Goal) string {
	return strings.Join([]string{g.Strategy, string(g.Kind), g.Subject.String(), g.Resource, g.TopologyKey}, "\x00")
}
