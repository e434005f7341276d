package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// notNeededMessage says why the plans leave the pod where it is although no rule rejects it, and which pods leave
// instead. The goals are those that the pod can affect.
func (e *Explainer) notNeededMessage(id cluster.PodID, goals []plan.GoalStatus) string {
	if helped := helpedGoals(goals, ""); len(helped) > 0 {
		return nameServing(e.automatic.moves, helped)
	}
	for _, of := range e.proposals {
		if _, moves := of.moves[id]; moves {
			return fmt.Sprintf("no unmet goal of an automatic strategy needs this pod to leave; the plan of mode %s moves it", of.mode)
		}
	}
	for _, of := range e.proposals {
		if helped := helpedGoals(goals, of.mode); len(helped) > 0 {
			return fmt.Sprintf("in the plan of mode %s, %s", of.mode, nameServing(of.moves, helped))
		}
	}
	return "no unmet goal needs this pod to leave"
}

// helpedGoals returns the IDs of the goals of a mode that an eviction of the pod would help. The empty mode stands for
// automatic strategies.
func helpedGoals(goals []plan.GoalStatus, mode plan.StrategyMode) (ids []string) {
	for _, g := range goals {
		if g.EvictionHelps && g.Mode == mode {
			ids = append(ids, g.Goal.ID)
		}
	}
	return ids
}

// nameServing names the first pods whose moves serve one of the goals, in the order of the plan. Without such moves,
// the plan leaves the goals as they are.
func nameServing(moves map[cluster.PodID]plan.Move, goals []string) string {
	const named = 3
	var serving []plan.Move
	for _, m := range moves {
		if slices.ContainsFunc(m.Goals, func(id string) bool { return slices.Contains(goals, id) }) {
			serving = append(serving, m)
		}
	}
	if len(serving) == 0 {
		return "the plan does not serve the goals"
	}
	slices.SortFunc(serving, func(a, b plan.Move) int { return a.Step - b.Step })
	var names []string
	for _, m := range serving[:min(named, len(serving))] {
		names = append(names, m.Pod.Namespace+"/"+m.Pod.Name)
	}
	if more := len(serving) - named; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "other pods serve the goals with fewer or cheaper evictions: " + strings.Join(names, ", ")
}
