package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
)

const approvalPollInterval = 5 * time.Second

func (c *Controller) applyApprovedPlan(ctx context.Context) {
	if c.Approvals == nil || c.Mode != plan.Live {
		return
	}
	if c.unanswered != nil && !c.answer(ctx) {
		return // Pending would take the request for one whose process has ended
	}
	r, err := c.Approvals.Pending(ctx)
	if err != nil {
		c.Log.Warn("an approved plan is not executed", "error", err)
	}
	if r == nil {
		return
	}
	if err := c.Approvals.Claim(ctx, r); err != nil {
		c.Log.Warn("an approved plan is not executed", "plan", r.Plan.ID, "error", err)
		return
	}
	report, err := c.Apply(ctx, r.Plan, plan.Approval{By: r.ApprovedBy, At: r.ApprovedAt})
	if err != nil {
		c.Log.Error("an approved plan could not be executed", "plan", r.Plan.ID, "error", err)
	}
	c.unanswered = &unansweredPlan{request: *r, report: report, since: c.Clock.Now()}
	c.answer(ctx)
}

// unansweredPlan is an approved plan that was executed, but whose report is not stored yet.
type unansweredPlan struct {
	request approval.Request
	report  plan.RunReport
	since   time.Time
}

// maxAnswerDelay bounds how long the leader tries to store the report of an approved plan. Afterwards another plan may
// replace the request anyway.
const maxAnswerDelay = time.Hour

// answer stores the report of an approved plan for the person who approved the plan. It tries up to closeAttempts times
// within saveTimeout. If it fails, the next check for approved plans tries again, until maxAnswerDelay has passed.
// answer returns false while the report may still be stored later.
func (c *Controller) answer(ctx context.Context) bool {
	u := c.unanswered
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	var err error
	for attempt := 1; ; attempt++ {
		err = c.Approvals.Complete(call, u.request, u.report)
		if err == nil || errors.Is(err, approval.ErrReplaced) || attempt == closeAttempts || !wait.Sleep(call, c.Clock, closeRetryDelay) {
			break
		}
	}
	late := err != nil && !errors.Is(err, approval.ErrReplaced) && c.Clock.Since(u.since) < maxAnswerDelay
	if err != nil {
		c.Log.Warn("the report of an approved plan could not be stored for the person who approved the plan", "plan", u.request.Plan.ID,
			"willRetry", late, "error", err)
	}
	if !late {
		c.unanswered = nil
	}
	return !late
}

// Apply executes a saved plan that a person approved. It enforces every limit, window, budget and
// back-off again, checks each move on a new snapshot, and drops the moves that are no longer valid.
// Apply never replans. Apply returns an error if the pass could not start.
func (c *Controller) Apply(ctx context.Context, approved plan.Plan, by plan.Approval) (plan.RunReport, error) {
	p := c.newPass(nil)
	p.report.Plan, p.report.Approval = approved, &by
	p.log = p.log.With("plan", approved.ID, "approvedBy", by.By)
	if c.unknownStrategy(approved) != "" {
		p.report.Plan = withoutContent(approved) // the report is counted by strategy, so only known names may be in it
		p.reportFailure(ctx, codedError{plan.PlanRefused, errors.New(c.configProblem(approved))})
		return p.report, nil
	}
	if err := p.observe(ctx); err != nil {
		p.reportFailure(ctx, err)
		return p.report, err
	}
	if why := c.planProblem(approved, p.snapshot.ClusterUID); why != "" {
		p.report.Stopped = &plan.Reason{Code: plan.PlanRefused, Message: why}
		p.report.Outcomes = droppedOutcomes(approved.Moves, plan.Reason{Code: plan.PlanRefused, Message: "not tried: the plan was refused"})
		return p.finish(ctx), nil
	}
	p.checkBreaker()
	if !p.stopIfBlocked() {
		p.executeWaves(ctx, p.withoutForbiddenMoves(approved))
		p.recheckBreaker(ctx)
	}
	return p.finish(ctx), nil
}

// withoutForbiddenMoves returns the approved plan without the moves that limits, windows and
// budgets forbid now. withoutForbiddenMoves records an outcome for each of these moves.
func (p *pass) withoutForbiddenMoves(approved plan.Plan) plan.Plan {
	p.log.Info("executing an approved plan", "moves", len(approved.Moves), "approvedAt", p.report.Approval.At)
	refused := p.Planner.Admit(p.snapshot, p.state, approved, p.snapshot.TakenAt)
	p.report.Outcomes = append(p.report.Outcomes, refused...)
	approved.Moves = slices.DeleteFunc(slices.Clone(approved.Moves), func(m plan.Move) bool {
		return slices.ContainsFunc(refused, func(o plan.Outcome) bool { return o.Step == m.Step })
	})
	return approved
}

// planProblem returns the reason why a saved plan must not be executed, or "".
func (c *Controller) planProblem(p plan.Plan, clusterUID string) string {
	now := c.Clock.Now()
	switch {
	case plan.ContentID(p) != p.ID:
		return fmt.Sprintf("the plan has been changed: its content does not match its id %s; make a new plan", p.ID)
	case !now.Before(p.Expires):
		return fmt.Sprintf("the plan expired at %s; make a new plan", p.Expires.UTC().Format("2006-01-02T15:04:05Z"))
	case p.Cluster.UID != clusterUID:
		return fmt.Sprintf("the plan is for another cluster: its kube-system namespace has the UID %q, here it is %q", p.Cluster.UID, clusterUID)
	case c.configProblem(p) != "":
		return c.configProblem(p)
	}
	return movesProblem(p.Moves)
}

// configProblem returns the reason why the plan does not belong to the current configuration, or "".
func (c *Controller) configProblem(p plan.Plan) string {
	if p.ConfigHash != c.ConfigHash {
		return fmt.Sprintf("the plan was made with another configuration (hash %s) than the one in effect here (hash %s); "+
			"give the same configuration with --config, or make a new plan with this one", p.ConfigHash, c.ConfigHash)
	}
	if name := c.unknownStrategy(p); name != "" {
		return fmt.Sprintf("strategy %q is not in the configuration; make a new plan", name[:min(len(name), maxShownName)])
	}
	return ""
}

// maxShownName bounds the part of an unknown name, in bytes, that a message repeats.
const maxShownName = 60

// unknownStrategy returns the name of a strategy of the plan that the configuration does not have, or "".
func (c *Controller) unknownStrategy(p plan.Plan) string {
	known := map[string]bool{"": true} // a move or a goal without a strategy adds no name
	for _, s := range c.Strategies {
		known[s.Name] = true
	}
	for _, m := range p.Moves {
		if !known[m.Strategy] {
			return m.Strategy
		}
	}
	for _, g := range p.Goals {
		if !known[g.Strategy] {
			return g.Strategy
		}
	}
	for _, s := range p.Strategies {
		if !known[s.Name] {
			return s.Name
		}
	}
	return ""
}

// withoutContent returns what identifies a plan, without its moves and goals.
func withoutContent(p plan.Plan) plan.Plan {
	return plan.Plan{APIVersion: p.APIVersion, Kind: p.Kind, ID: p.ID, TakenAt: p.TakenAt, Expires: p.Expires, Cluster: p.Cluster,
		ConfigHash: p.ConfigHash}
}

// movesProblem returns the reason why a list of moves is malformed, or "".
func movesProblem(moves []plan.Move) string {
	pods, wave := map[string]bool{}, 1
	for i, m := range moves {
		switch {
		case m.Step != i+1:
			return fmt.Sprintf("move %d has the step number %d", i+1, m.Step)
		case m.Pod.UID == "" || pods[m.Pod.UID]:
			return fmt.Sprintf("step %d: the pod's UID is missing or occurs twice", m.Step)
		case m.Wave < wave || m.Wave > i+1:
			return fmt.Sprintf("step %d is in wave %d, but the step before it is in wave %d", m.Step, m.Wave, wave)
		}
		pods[m.Pod.UID], wave = true, m.Wave
	}
	return displacementProblem(moves)
}
