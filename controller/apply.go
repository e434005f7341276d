package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/plan"
)

// reject publishes the report of an approved plan that must not be executed.
func (c *Controller) reject(ctx context.Context, r *waiting.Request, by plan.Approval, why string) plan.RunReport {
	p := c.newPass(nil)
	p.approved = r
	// A report is counted by strategy, so only known names may be in it.
	p.report.Plan, p.report.Approval = withoutContent(r.Plan), &by
	p.storePlan(ctx, &r.Plan)
	p.reportFailure(ctx, codedError{plan.PlanRefused, errors.New(why)})
	return p.report
}

// apply executes the steps of a plan that a person approved. It enforces every limit, window, budget and
// back-off again, checks each move on a new snapshot, and drops the moves that are no longer valid.
// apply never replans. apply returns an error if the pass could not start.
func (c *Controller) apply(ctx context.Context, r *waiting.Request, by plan.Approval) (plan.RunReport, error) {
	approved := r.Plan
	if unknownStrategy(c.Strategies, approved) != "" {
		return c.reject(ctx, r, by, c.configProblem(approved)), nil
	}
	p := c.newPass(nil)
	p.approved, p.report.Plan, p.report.Approval = r, approved, &by
	p.log = p.log.With("waitingPlan", by.WaitingPlan, "approvedBy", by.By)
	p.hints.log = p.log
	p.storePlan(ctx, &approved)
	if err := p.observe(ctx); err != nil {
		p.reportFailure(ctx, err)
		return p.report, err
	}
	if why := cmp.Or(PlanProblem(approved, p.snapshot.ClusterUID, c.Clock.Now()), c.configProblem(approved)); why != "" {
		p.report.Stopped = &plan.Reason{Code: plan.PlanRefused, Message: why}
		p.report.Outcomes = droppedOutcomes(approved.Moves, plan.Reason{Code: plan.PlanRefused, Message: "not tried: the plan was refused"})
		return p.finish(ctx), nil
	}
	p.checkBreaker()
	if !p.stopIfBlocked() {
		p.executeWaves(ctx, p.withoutForbiddenMoves(approved))
		p.recheckBreaker(ctx)
		p.hints.keepEmptied(ctx, &p.report)
	}
	explainGone(&p.report)
	return p.finish(ctx), nil
}

// explainGone adds to the outcomes of a resumed plan that an earlier process may have evicted the pods that are gone.
func explainGone(r *plan.RunReport) {
	if r.Approval.Attempt < 2 {
		return
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Outcome == plan.AlreadyGone {
			o.Reason.Message += "; an earlier process took this plan and may have evicted it: see its report, or the recovered run"
		}
	}
}

// withoutForbiddenMoves returns the approved plan without the moves that limits, windows and
// budgets forbid now. withoutForbiddenMoves records an outcome for each of these moves.
func (p *pass) withoutForbiddenMoves(approved plan.Plan) plan.Plan {
	p.log.Info("executing an approved plan", "moves", len(approved.Moves), "approvedAt", p.report.Approval.At)
	refused := p.Planner.CheckLimits(p.snapshot, p.journal.state, approved, p.snapshot.TakenAt)
	p.report.Outcomes = append(p.report.Outcomes, refused...)
	approved.Moves = slices.DeleteFunc(slices.Clone(approved.Moves), func(m plan.Move) bool {
		return slices.ContainsFunc(refused, func(o plan.Outcome) bool { return o.Step == m.Step })
	})
	return approved
}

// PlanProblem returns the reason why no configuration permits the execution of a saved plan in a cluster, or "".
func PlanProblem(p plan.Plan, clusterUID string, now time.Time) string {
	switch {
	case !now.Before(p.Expires):
		return fmt.Sprintf("the plan expired at %s; make a new one with `evenkeel plan`", p.Expires.UTC().Format("2006-01-02T15:04:05Z"))
	case p.Cluster.UID != clusterUID:
		return fmt.Sprintf("the plan is for another cluster: its kube-system namespace has the UID %q, but here the UID is %q", p.Cluster.UID, clusterUID)
	}
	return movesProblem(p.Moves)
}

// ConfigProblem says that a process does not execute a plan, because that has another configuration.
func ConfigProblem(made, process, has string) string {
	return fmt.Sprintf("the plan was made with another configuration (hash %s), and %s executes plans with its own (hash %s); "+
		"change the configuration of the release (helm upgrade), or make a new plan without --config", made, process, has)
}

// configProblem returns the reason why the plan does not belong to the current configuration, or "".
func (c *Controller) configProblem(p plan.Plan) string {
	if p.ConfigHash != c.ConfigHash {
		return ConfigProblem(p.ConfigHash, c.Holder, c.ConfigHash)
	}
	if name := unknownStrategy(c.Strategies, p); name != "" {
		return fmt.Sprintf("strategy %q is not in the configuration; make a new plan", name[:min(len(name), maxShownName)])
	}
	return ""
}

// maxShownName bounds the part of an unknown name, in bytes, that a message repeats.
const maxShownName = 60

// unknownStrategy returns the name of a strategy of the plan that the configuration does not have, or "".
func unknownStrategy(strategies []schedule.Strategy, p plan.Plan) string {
	var names []string
	for _, m := range p.Moves {
		names = append(names, m.Strategy)
	}
	for _, g := range p.Goals {
		names = append(names, g.Strategy)
	}
	for _, name := range names {
		if name != "" && !hasStrategy(strategies, name) { // a move or a goal without a strategy adds no name
			return name
		}
	}
	return ""
}

// withoutContent returns what identifies a plan, without its moves and goals.
func withoutContent(p plan.Plan) plan.Plan {
	return plan.Plan{APIVersion: p.APIVersion, Kind: p.Kind, ID: p.ID, TakenAt: p.TakenAt, Expires: p.Expires, Cluster: p.Cluster,
		ConfigHash: p.ConfigHash}
}

// maxStep bounds the steps and waves of a plan.
const maxStep = 1_000_000

// movesProblem returns the reason why a list of moves is malformed, or "". The steps have gaps if only some are
// approved.
func movesProblem(moves []plan.Move) string {
	pods, step, wave := map[string]bool{}, 0, 1
	for i, m := range moves {
		switch {
		case m.Step <= step || m.Step > maxStep:
			return fmt.Sprintf("move %d has the step number %d", i+1, m.Step)
		case m.Pod.UID == "" || pods[m.Pod.UID]:
			return fmt.Sprintf("step %d: the pod's UID is missing or occurs twice", m.Step)
		case m.Wave < wave || m.Wave > m.Step:
			return fmt.Sprintf("step %d is in wave %d, but the step before it is in wave %d", m.Step, m.Wave, wave)
		}
		pods[m.Pod.UID], step, wave = true, m.Step, m.Wave
	}
	return displacementProblem(moves)
}
