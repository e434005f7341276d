package controller

import (
	"log/slog"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

// pass is one pass of a controller, either with a new plan or with an approved plan.
type pass struct {
	*Controller
	log    *slog.Logger
	due    []string // nil means all strategies
	report plan.RunReport

	snapshot *cluster.Snapshot // the snapshot from which the plan was made
	goals    []plan.Goal
	// breakerBaseline is the health of the cluster when the pass began.
	breakerBaseline breaker.Baseline
	// breakerReason says why the breaker blocks this pass.
	breakerReason *plan.Reason
	// loadErr says why a dry run plans without the stored state.
	loadErr error
	// reserved is set once the pass has tried to reserve evictions.
	reserved bool
	// leftoverHints contains the nodes from which the pass could not remove its hints.
	leftoverHints []string
}

func (c *Controller) newPass(due []string) *pass {
	r := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: c.NewRunID(), Mode: c.Mode,
		Started: c.Clock.Now().UTC(), Outcomes: []plan.Outcome{}}
	if c.RefusedInputs != nil {
		r.Inputs = c.RefusedInputs()
	}
	return &pass{Controller: c, log: c.Log.With("run", r.RunID), due: due, report: r}
}

// droppedOutcomes returns an outcome for each move that was not tried.
func droppedOutcomes(moves []plan.Move, why plan.Reason) []plan.Outcome {
	var out []plan.Outcome
	for _, m := range moves {
		out = append(out, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: why})
	}
	return out
}

// dropRemaining records an outcome for each move of a plan that has no outcome yet.
func (p *pass) dropRemaining(todo plan.Plan, why *plan.Reason) {
	done := map[int]bool{}
	for _, o := range p.report.Outcomes {
		done[o.Step] = true
	}
	remaining := slices.DeleteFunc(slices.Clone(todo.Moves), func(m plan.Move) bool { return done[m.Step] })
	p.report.Outcomes = append(p.report.Outcomes, droppedOutcomes(remaining,
		plan.Reason{Code: plan.Interrupted, Message: "not tried: the pass had stopped: " + string(why.Code)})...)
}
