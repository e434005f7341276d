package controller

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A displaced move evicts a pod from a node to make room there for a later move.

// splitByRoom returns the candidates that have room. For each other candidate, whose displaced move
// did not make room as predicted, it returns an outcome. A displaced pod that was already gone, or
// did not need to move, takes no room.
func splitByRoom(all []plan.Move, done []plan.Outcome, candidates []plan.Move) (ready []plan.Move, dropped []plan.Outcome) {
	for _, m := range candidates {
		if why := roomProblem(all, done, m); why != "" {
			dropped = append(dropped, droppedOutcomes([]plan.Move{m}, plan.Reason{Code: plan.PremiseChanged, Message: why})...)
		} else {
			ready = append(ready, m)
		}
	}
	return ready, dropped
}

// roomProblem returns the reason why a move has no room, or "" if the move has room or needs no
// displaced move.
func roomProblem(all []plan.Move, done []plan.Outcome, m plan.Move) string {
	for _, q := range all {
		if q.DisplacedFor == nil || q.DisplacedFor.UID != m.Pod.UID {
			continue
		}
		k := slices.IndexFunc(done, func(o plan.Outcome) bool { return o.Step == q.Step })
		if k < 0 {
			return fmt.Sprintf("%s was to make room for it on %s, but was not tried", q.Pod, q.From)
		}
		switch o := done[k]; {
		case o.Outcome == plan.Evicted && o.LandedAsPredicted, o.Outcome == plan.AlreadyGone,
			o.Outcome == plan.Dropped && o.Reason.Code == plan.NotNeeded:
		case o.Outcome == plan.Evicted && o.Landed != "":
			return fmt.Sprintf("%s was to make room for it on %s, but its replacement landed on %s, not on the predicted node %s", q.Pod, q.From,
				o.Landed, q.To)
		default:
			return fmt.Sprintf("%s was to make room for it on %s, but did not: %s (%s)", q.Pod, q.From, o.Outcome, o.Reason.Code)
		}
	}
	return ""
}

// displacementProblem returns a message if a displaced move makes room for no later move, and ""
// otherwise. The planner never makes a plan with such a move.
func displacementProblem(moves []plan.Move) string {
	for _, q := range moves {
		if q.DisplacedFor == nil {
			continue
		}
		if !slices.ContainsFunc(moves, func(p plan.Move) bool {
			return p.Pod.UID == q.DisplacedFor.UID && p.Wave > q.Wave && p.DisplacedFor == nil
		}) {
			return fmt.Sprintf("step %d makes room for %s, but no later wave moves that pod", q.Step, q.DisplacedFor)
		}
	}
	return ""
}
