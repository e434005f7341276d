package planner

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// isEmptied reports whether the goal is a NodeEmpty that the plan meets.
func isEmptied(pl *plan.Plan, g *plan.Goal) bool {
	return g.Kind == plan.NodeEmpty && pl.After.Excess[g.ID] == 0
}

// emptiesNode reports whether one of the moves empties a node.
func emptiesNode(pl *plan.Plan, moves []plan.Move) bool {
	for i := range pl.Goals {
		if isEmptied(pl, &pl.Goals[i]) && slices.ContainsFunc(moves, serves(&pl.Goals[i])) {
			return true
		}
	}
	return false
}

func serves(g *plan.Goal) func(plan.Move) bool {
	return func(m plan.Move) bool { return slices.Contains(m.Goals, g.ID) }
}

// startEmptying makes the search ask for the moves of a wave that empty nodes. It keeps the
// replacements of these moves away from all nodes that the plan empties, and those of other moves
// away from the nodes that are empty already. A replacement of an earlier wave may land on a node
// that the plan empties later; then the node keeps its pods.
func (r *recheck) startEmptying(moves []plan.Move) {
	var goals []int
	var closed []cluster.NodeID
	emptying := emptiesNode(r.plan, moves)
	for i := range r.plan.Goals {
		g := &r.plan.Goals[i]
		n := r.sim.Snapshot.NodeByName(g.Subject.Name)
		if !isEmptied(r.plan, g) || n == nil || !emptying && !haveLeft(r.sim.Snapshot, g, n.ID) {
			continue
		}
		closed = append(closed, n.ID)
		if f := r.goalNow(g); f >= 0 && slices.ContainsFunc(moves, serves(g)) {
			goals = append(goals, f)
			closed = append(closed, goal.NotTargets(&r.sim.Goals.Goals[f])...)
		}
	}
	if len(closed) > 0 {
		goal.Emptying{Tracker: r.sim.Goals}.Start(goals, closed)
	}
}

// haveLeft reports whether no pod of the goal is on its node.
func haveLeft(s *cluster.Snapshot, g *plan.Goal, n cluster.NodeID) bool {
	return !slices.ContainsFunc(g.Leaving, func(ref plan.PodRef) bool {
		p := FindPod(s, ref)
		return p != nil && p.Node == n
	})
}

// goalNow returns the index of the goal that the strategy states now about the node of a NodeEmpty in the plan, or -1.
func (r *recheck) goalNow(g *plan.Goal) int {
	return slices.IndexFunc(r.sim.Goals.Goals, func(now plan.Goal) bool {
		return now.Kind == plan.NodeEmpty && now.Strategy == g.Strategy && now.Subject.Name == g.Subject.Name
	})
}

// dropBlockedNodes drops the moves that empty a node if the plan can no longer empty it: the
// strategy asks for it no more, or the node has a pod that the plan does not move.
func (r *recheck) dropBlockedNodes(moves []plan.Move) (ok []plan.Move, dropped []plan.Outcome) {
	why := map[string]string{}
	for i := range r.plan.Goals {
		if g := &r.plan.Goals[i]; g.Kind == plan.NodeEmpty {
			why[g.ID] = r.nodeProblem(g)
		}
	}
	return dropForNodes(*r.plan, moves, why)
}

func (r *recheck) nodeProblem(g *plan.Goal) string {
	f := r.goalNow(g)
	if f < 0 || r.sim.Goals.Goals[f].Constraint {
		return fmt.Sprintf("strategy %s does not ask for an empty %s any more", g.Strategy, g.Subject.Name)
	}
	for _, pod := range r.sim.Goals.Goals[f].Pods {
		p := &r.sim.Snapshot.Pods[pod]
		if !slices.ContainsFunc(g.Leaving, func(ref plan.PodRef) bool { return FindPod(r.sim.Snapshot, ref) == p }) {
			return fmt.Sprintf("%s runs on %s, and the plan does not move it", plan.PodRefOf(p), g.Subject.Name)
		}
	}
	return ""
}

// keepWholeNodes drops the moves that empty a node if another move for the node was dropped and its pod is not gone.
func keepWholeNodes(pl plan.Plan, moves []plan.Move, known []plan.Outcome) (ok []plan.Move, dropped []plan.Outcome) {
	why := map[string]string{}
	for _, o := range known {
		k := slices.IndexFunc(pl.Moves, func(m plan.Move) bool { return m.Step == o.Step })
		if k < 0 || o.Outcome == plan.AlreadyGone {
			continue
		}
		for _, id := range pl.Moves[k].Goals {
			why[id] = fmt.Sprintf("a node must be emptied completely, but %s is not moved: %s", o.Pod, o.Reason.Code)
		}
	}
	return dropForNodes(pl, moves, why)
}

// dropForNodes drops the moves for those goals of the kind NodeEmpty for which why, by goal ID, is not empty.
func dropForNodes(pl plan.Plan, moves []plan.Move, why map[string]string) (ok []plan.Move, dropped []plan.Outcome) {
	var blocked []string // IDs of goals
	for i := range pl.Goals {
		if g := &pl.Goals[i]; g.Kind == plan.NodeEmpty && why[g.ID] != "" {
			blocked = append(blocked, g.ID)
		}
	}
	for _, m := range moves {
		k := slices.IndexFunc(blocked, func(id string) bool { return slices.Contains(m.Goals, id) })
		if k < 0 {
			ok = append(ok, m)
			continue
		}
		dropped = append(dropped, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped,
			Reason: plan.Reason{Code: plan.NodeNotEmptied, Message: why[blocked[k]]}})
	}
	return ok, dropped
}

// dropPartlyEmptied drops the moves that empty a node of a saved plan if the plan lacks a move of
// one of its pods, or if that move is dropped.
func dropPartlyEmptied(s *cluster.Snapshot, pl plan.Plan, dropped []plan.Outcome) []plan.Outcome {
	isDropped := func(m plan.Move) bool {
		return slices.ContainsFunc(dropped, func(o plan.Outcome) bool { return o.Step == m.Step })
	}
	left := slices.DeleteFunc(slices.Clone(pl.Moves), isDropped)
	why := map[string]string{}
	for i := range pl.Goals {
		g := &pl.Goals[i]
		n := s.NodeByName(g.Subject.Name)
		if !isEmptied(&pl, g) || n == nil {
			continue
		}
		for _, ref := range g.Leaving {
			p := FindPod(s, ref)
			if p != nil && p.Node == n.ID && !slices.ContainsFunc(left, func(m plan.Move) bool { return FindPod(s, m.Pod) == p }) {
				why[g.ID] = fmt.Sprintf("%s must be emptied completely, but %s is not moved", n.Name, plan.PodRefOf(p))
			}
		}
	}
	_, more := dropForNodes(pl, left, why)
	return append(dropped, more...)
}
