package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// GoalState is the cluster at one time, with the goals stated of it.
type GoalState struct {
	Snapshot *cluster.Snapshot
	Goals    []plan.Goal
}

// Gains compares what the evictions of a pass were foretold to bring to the goals
// that they serve with what stands at its end, by strategy. Foretold is what the
// goals would be had each replacement landed where the plan says; realised is what
// they are. Both are shares of the excess before, times the weight of the goal.
//
// A goal that is no longer stated says nothing. What a pod's leaving brought counts only
// as far as replacements were seen to land: a pod that stays Pending makes a node
// seem emptier. Where a replacement made the node it landed on worse, that counts
// against its strategy: to move load from one hot node to the next pays nothing. What
// others do to the cluster meanwhile is in the figures too; over many evictions it
// evens out.
func Gains(before GoalState, p plan.Plan, outcomes []plan.Outcome, after GoalState) map[string]history.Gain {
	a := account{was: track(before), is: track(after), goals: map[int]*service{}, out: map[string]history.Gain{}}
	a.at = map[string]int{}
	for j, g := range a.is.Goals {
		a.at[goal.Key(g)] = j
	}
	a.excess = slices.Clone(a.was.InitialExcess)
	for i := range a.excess {
		a.excess[i] = a.was.Excess(i)
	}
	for _, o := range outcomes {
		k := slices.IndexFunc(p.Moves, func(m plan.Move) bool { return m.Step == o.Step && m.Pod.UID == o.Pod.UID })
		if k >= 0 && o.Outcome == plan.Evicted {
			a.add(p, p.Moves[k], o)
		}
	}
	a.sum()
	return a.out
}

func track(at GoalState) *goal.Tracker {
	return goal.NewTracker(at.Snapshot, at.Goals)
}

// account adds up one pass.
type account struct {
	was, is *goal.Tracker // was follows the moves as foretold
	excess  []int64       // of was, before any move
	at      map[string]int
	goals   map[int]*service // by index in was
	out     map[string]history.Gain
}

// service is what evictions have to do with one goal.
type service struct {
	served, landed int
	// reached: a replacement landed on the node that the goal is about.
	reached bool
}

func (a *account) of(i int) *service {
	if a.goals[i] == nil {
		a.goals[i] = &service{}
	}
	return a.goals[i]
}

// add follows one eviction as it was foretold, and notes the goals that it is about.
func (a *account) add(p plan.Plan, m plan.Move, o plan.Outcome) {
	s := a.was.Snapshot
	pod, from, to := s.PodByUID(m.Pod.UID), s.NodeByName(m.From), s.NodeByName(m.To)
	if pod == nil || from == nil || to == nil || pod.Node != from.ID {
		return
	}
	a.was.Move(pod.ID, from.ID, to.ID)
	strategies := map[string]bool{}
	for _, g := range p.Goals {
		if !slices.Contains(m.Goals, g.ID) {
			continue
		}
		i := slices.IndexFunc(a.was.Goals, func(w plan.Goal) bool { return goal.Key(w) == goal.Key(g) })
		if i < 0 {
			continue
		}
		x := a.of(i)
		x.served++
		if o.Landed != "" {
			x.landed++
		}
		strategies[g.Strategy] = true
	}
	if n := s.NodeByName(o.Landed); n != nil {
		for _, i := range a.was.ByNode[n.ID] {
			if strategies[a.was.Goals[i].Strategy] {
				a.of(int(i)).reached = true
			}
		}
	}
	for name := range strategies {
		g := a.out[name]
		g.Evictions++
		a.out[name] = g
	}
}

// sum adds the goals to the gains of their strategies, in goal order: sums of
// floats depend on it.
func (a *account) sum() {
	for i := range a.was.Goals {
		x := a.goals[i]
		g := a.was.Goals[i]
		j, stated := a.at[goal.Key(g)]
		if x == nil || !stated {
			continue
		}
		norm := float64(max(1, a.excess[i]))
		if x.served == 0 {
			norm = a.scale(g, norm)
		}
		sum := a.out[g.Strategy]
		foretold := g.Weight * clip(float64(a.excess[i]-a.was.Excess(i))/norm)
		realised := g.Weight * clip(float64(a.excess[i]-a.is.Excess(j))/norm)
		switch {
		case x.served == 0: // only a landing place: others may have relieved it
			foretold, realised = min(0, foretold), min(0, realised)
		case realised > 0:
			realised *= float64(x.landed) / float64(x.served)
		}
		sum.Foretold, sum.Realised = sum.Foretold+foretold, sum.Realised+realised
		a.out[g.Strategy] = sum
	}
}

// scale is the largest excess that the pass served in the same unit: an overshoot
// on a landing place is as bad as it is large beside what was removed.
func (a *account) scale(of plan.Goal, least float64) float64 {
	for i, g := range a.was.Goals {
		if x := a.goals[i]; x != nil && x.served > 0 && g.Strategy == of.Strategy && g.Kind == of.Kind && g.Resource == of.Resource {
			least = max(least, float64(a.excess[i]))
		}
	}
	return least
}

func clip(share float64) float64 { return max(-1, min(1, share)) }
