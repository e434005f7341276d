package controller

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// splitByRoom tells the moves for which room was made as foretold, where it was to be,
// from those for which it was not: these are dropped. A pod that was gone before it
// could make room, or need not have made any, is in nobody's way.
func splitByRoom(report *plan.RunReport, moves []plan.Move) (ok []plan.Move, dropped []plan.Outcome) {
	for _, m := range moves {
		if why := roomProblem(report, m); why != "" {
			dropped = append(dropped, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.PremiseChanged, Message: why}})
			continue
		}
		ok = append(ok, m)
	}
	return ok, dropped
}

// roomProblem says why there is no room for a move; "" when there is, or none had to be made.
func roomProblem(report *plan.RunReport, m plan.Move) string {
	for _, q := range report.Plan.Moves {
		if q.DisplacedFor == nil || q.DisplacedFor.UID != m.Pod.UID {
			continue
		}
		k := slices.IndexFunc(report.Outcomes, func(o plan.Outcome) bool { return o.Step == q.Step })
		if k < 0 {
			return fmt.Sprintf("%s, which was to make room for it on %s, was not tried", q.Pod, q.From)
		}
		switch o := report.Outcomes[k]; {
		case o.Outcome == plan.Evicted && o.LandedAsPredicted, o.Outcome == plan.AlreadyGone, o.Outcome == plan.Dropped && o.Reason.Code == plan.NotNeeded:
		case o.Outcome == plan.Evicted && o.Landed != "":
			return fmt.Sprintf("%s, which was to make room for it on %s, landed on %s, not where that was foretold (%s)", q.Pod, q.From, o.Landed, q.To)
		default:
			return fmt.Sprintf("%s, which was to make room for it on %s, did not: %s (%s)", q.Pod, q.From, o.Outcome, o.Reason.Code)
		}
	}
	return ""
}

// displacementProblem says which move is to make room for one that does not come after it; ""
// when none is. No planner makes such.
func displacementProblem(moves []plan.Move) string {
	for _, q := range moves {
		if q.DisplacedFor == nil {
			continue
		}
		if !slices.ContainsFunc(moves, func(p plan.Move) bool {
			return p.Pod.UID == q.DisplacedFor.UID && p.Wave > q.Wave && p.DisplacedFor == nil
		}) {
			return fmt.Sprintf("step %d makes room for %s, which no later wave moves", q.Step, q.DisplacedFor)
		}
	}
	return ""
}
