package goal

import (
	"cmp"
	"github.com/evenkeel-project/evenkeel/plan"
	"slices"
)

// FirstGoals are, by goal, the requested goals about nodes that are drained first, by
// request or since they are under pressure, where no other goal weighs more: what
// limits allow is theirs before it is anybody's.
func (t *Tracker) FirstGoals() []bool {
	heaviest := 0.0
	for i := range t.Goals {
		if g := &t.Goals[i]; !g.Constraint && t.Excess(i) > 0 {
			heaviest = max(heaviest, g.Weight)
		}
	}
	out := make([]bool, len(t.Goals))
	for i := range out {
		g := &t.Goals[i]
		out[i] = !g.Constraint && t.Excess(i) > 0 && g.Weight >= heaviest && t.drainOrder(i) == 0
	}
	return out
}

// FirstOrder is 0 for goals that are served first, and 1 for others.
func (t *Tracker) FirstOrder(g int) int {
	if t.First[g] {
		return 0
	}
	return 1
}

// ByNeed lists the requested goals with excess: heavier first, then those that more
// attempts left unmet, then those with more to do relative to what is allowed, then in
// goal order.
func (t *Tracker) ByNeed(stuck []int) []int {
	type needy struct {
		goal, drained, stuck, kind int
		weight, excess             float64
	}
	var all []needy
	for i := range t.Goals {
		if g := &t.Goals[i]; !g.Constraint && t.Excess(i) > 0 {
			all = append(all, needy{i, t.drainOrder(i), stuck[i], kindOrder(g.Kind), g.Weight, t.ReportedExcess(i)})
		}
	}
	slices.SortFunc(all, func(a, b needy) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.drained, b.drained), cmp.Compare(b.stuck, a.stuck), cmp.Compare(a.kind, b.kind), cmp.Compare(b.excess, a.excess), cmp.Compare(a.goal, b.goal))
	})
	out := make([]int, len(all))
	for i := range all {
		out[i] = all[i].goal
	}
	return out
}

// drainOrder puts goals of nodes that are to be drained first, or are under pressure,
// before others.
func (t *Tracker) drainOrder(i int) int {
	if g := &t.Goals[i]; g.Kind == plan.NodeBelow && (t.UnderPressure != nil && t.UnderPressure[g.Node] || t.Annotations.OfNode(t.Snapshot, g.Node).DrainFirst) {
		return 0
	}
	return 1
}

// kindOrder puts spread before load: a spread move leaves a choice of node in
// the target domain, which load balancing then finds taken into account.
func kindOrder(k plan.GoalKind) int {
	if k == plan.SkewAtMost {
		return 0
	}
	return 1
}
