package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

const (
	approvalPollInterval = 5 * time.Second
	// maxAttempts bounds how many processes execute the same approved plan, one after the other.
	maxAttempts = 3
)

// approvedPlans executes the plans that a person approved.
type approvedPlans struct{ *Controller }

// executeNext executes the next plan that a person approved, if there is one.
func (c approvedPlans) executeNext(ctx context.Context) {
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
	if r != nil && !c.awaitsEarlierProcess(ctx, r) {
		c.executeRequest(ctx, r)
	}
}

// ExecuteApproved executes the approved steps of a waiting plan, if there are any. A single pass calls it before it
// plans. Unlike Run, it takes no plans of `evenkeel apply`, which executes them itself while no process leads.
func (c *Controller) ExecuteApproved(ctx context.Context) {
	if c.Approvals == nil || c.Mode != plan.Live {
		return
	}
	r, err := c.Approvals.Pending(ctx)
	if err != nil {
		c.Log.Warn("an approved plan is not executed", "error", err)
	}
	if a := (approvedPlans{c}); r != nil && r.WaitingPlan != "" && !a.awaitsEarlierProcess(ctx, r) {
		a.executeRequest(ctx, r)
	}
}

// executeRequest executes an approved plan and stores its report. The next leader calls it again if this process ends
// before it has stored the report: pods that are gone are not evicted again, because each move names the UID of its pod.
func (c approvedPlans) executeRequest(ctx context.Context, r *approval.Request) {
	by := plan.Approval{By: r.ApprovedBy, At: r.ApprovedAt, WaitingPlan: r.WaitingPlan}
	log := c.Log.With("plan", r.Plan.ID, "waitingPlan", r.WaitingPlan, "approvedBy", by.By)
	if why := c.exhausted(r); why != "" {
		log.Warn("an approved plan is not executed again", "reason", why)
		if err := c.Approvals.Interrupt(ctx, *r, why); err != nil {
			log.Warn("the report of an approved plan could not be stored for the person who approved the plan", "error", err)
		}
		return
	}
	rejected, err := c.markApproved(ctx, r, by)
	if err == nil {
		err = c.Approvals.Claim(ctx, r, c.Holder)
	}
	if err != nil {
		log.Warn("an approved plan is not executed", "error", err)
		return
	}
	if r.Attempts > 1 {
		by.Attempt = r.Attempts
	}
	var report plan.RunReport
	if rejected != "" {
		report = c.reject(ctx, r.Plan, by, rejected)
	} else if report, err = c.Apply(ctx, r.Plan, by); err != nil {
		log.Error("an approved plan could not be executed", "error", err)
	}
	c.unanswered = &unansweredPlan{request: *r, report: report, since: c.Clock.Now()}
	c.answer(ctx)
}

// exhausted returns the reason why a request that was claimed before must not be executed again, or "".
func (c approvedPlans) exhausted(r *approval.Request) string {
	switch {
	case r.Attempts > 0 && r.Holder == c.Holder:
		return "the process that took the plan could not store its report; the reports of the current leader contain its evictions"
	case r.Attempts >= maxAttempts:
		return fmt.Sprintf("%d processes took the plan, one after the other, and each ended before it had stored its report; "+
			"their reports and the recovered runs contain their evictions", r.Attempts)
	}
	return ""
}

// resumeDelay is how long the evictions of a process that has ended may still commit after it reserved them.
const resumeDelay = evictor.LongestCall

// awaitsEarlierProcess reports whether a plan must not be resumed yet, because the outcome of evictions of an earlier
// process is unknown: they may still commit, or their workloads back off. Without this wait, the moves of these workloads
// would be dropped.
func (c approvedPlans) awaitsEarlierProcess(ctx context.Context, r *approval.Request) bool {
	now := c.Clock.Now()
	if r.Attempts == 0 || c.exhausted(r) != "" || !now.Before(r.Plan.Expires) {
		return false
	}
	st, err := c.Store.Load(ctx)
	if err != nil {
		c.Log.Warn("an approved plan is not resumed yet, because the stored state cannot be read", "plan", r.Plan.ID, "error", err)
		return true
	}
	waits := hasOpenReservations(st, now) || slices.ContainsFunc(r.Plan.Moves,
		func(m plan.Move) bool { return isOutcomeUnknown(st, history.WorkloadOfMove(m), now) })
	if waits && c.awaited != r.Plan.ID {
		c.awaited = r.Plan.ID
		c.Log.Info("the process that executed an approved plan has ended; the plan is resumed when the outcome of its evictions is known",
			"plan", r.Plan.ID, "holder", r.Holder, "until", r.Plan.Expires)
	}
	return waits
}

// isOutcomeUnknown reports whether a workload backs off because of an eviction with an unknown outcome, or whether such an
// eviction may still commit.
func isOutcomeUnknown(st plan.PlannerState, w plan.ObjectRef, now time.Time) bool {
	return slices.ContainsFunc(st.Backoffs, func(b plan.Backoff) bool {
		return b.Workload == w && b.Reason.Code == plan.OutcomeUnknown && now.Before(b.Until)
	}) || slices.ContainsFunc(st.Background, func(b plan.BackgroundEviction) bool {
		return b.Workload == w && b.AwaitsReplacement && now.Before(b.Since.Add(history.CommitTimeout))
	})
}

// hasOpenReservations reports whether reserved evictions may still commit.
func hasOpenReservations(st plan.PlannerState, now time.Time) bool {
	return slices.ContainsFunc(st.Runs, func(run plan.OpenRun) bool {
		return slices.ContainsFunc(run.Reservations, func(x plan.Reservation) bool {
			return x.Outcome == nil && now.Before(x.At.Add(resumeDelay))
		})
	})
}

// reject publishes the report of an approved plan that must not be executed.
func (c *Controller) reject(ctx context.Context, approved plan.Plan, by plan.Approval, why string) plan.RunReport {
	p := c.newPass(nil)
	p.report.Plan, p.report.Approval = withoutContent(approved), &by // a report is counted by strategy, so only known names may be in it
	p.reportFailure(ctx, codedError{plan.PlanRefused, errors.New(why)})
	return p.report
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
func (c approvedPlans) answer(ctx context.Context) bool {
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
	if unknownStrategy(c.Strategies, approved) != "" {
		return c.reject(ctx, approved, by, c.configProblem(approved)), nil
	}
	p := c.newPass(nil)
	p.report.Plan, p.report.Approval = approved, &by
	p.log = p.log.With("plan", approved.ID, "waitingPlan", by.WaitingPlan, "approvedBy", by.By)
	if err := p.observe(ctx); err != nil {
		p.reportFailure(ctx, err)
		return p.report, err
	}
	if why := c.planProblem(approved, p.snapshot.ClusterUID, by.WaitingPlan != ""); why != "" {
		p.report.Stopped = &plan.Reason{Code: plan.PlanRefused, Message: why}
		p.report.Outcomes = droppedOutcomes(approved.Moves, plan.Reason{Code: plan.PlanRefused, Message: "not tried: the plan was refused"})
		return p.finish(ctx), nil
	}
	p.checkBreaker()
	if !p.stopIfBlocked() {
		p.executeWaves(ctx, p.withoutForbiddenMoves(approved))
		p.recheckBreaker(ctx)
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
	refused := p.Planner.Admit(p.snapshot, p.state, approved, p.snapshot.TakenAt)
	p.report.Outcomes = append(p.report.Outcomes, refused...)
	approved.Moves = slices.DeleteFunc(slices.Clone(approved.Moves), func(m plan.Move) bool {
		return slices.ContainsFunc(refused, func(o plan.Outcome) bool { return o.Step == m.Step })
	})
	return approved
}

// planProblem returns the reason why a saved plan must not be executed, or "".
// part reports that the plan consists of steps of a larger plan.
func (c *Controller) planProblem(p plan.Plan, clusterUID string, part bool) string {
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
	return movesProblem(p.Moves, part)
}

// configProblem returns the reason why the plan does not belong to the current configuration, or "".
func (c *Controller) configProblem(p plan.Plan) string {
	if p.ConfigHash != c.ConfigHash {
		return fmt.Sprintf("the plan was made with another configuration (hash %s) than the one in effect here (hash %s); "+
			"give the same configuration with --config, or make a new plan with this one", p.ConfigHash, c.ConfigHash)
	}
	if name := unknownStrategy(c.Strategies, p); name != "" {
		return fmt.Sprintf("strategy %q is not in the configuration; make a new plan", name[:min(len(name), maxShownName)])
	}
	return ""
}

// maxShownName bounds the part of an unknown name, in bytes, that a message repeats.
const maxShownName = 60

// unknownStrategy returns the name of a strategy of the plan that the configuration does not have, or "".
func unknownStrategy(strategies []config.ScheduledStrategy, p plan.Plan) string {
	known := map[string]bool{"": true} // a move or a goal without a strategy adds no name
	for _, s := range strategies {
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

// maxStep bounds the steps and waves of a plan.
const maxStep = 1_000_000

// movesProblem returns the reason why a list of moves is malformed, or "". The steps of a part of a plan have gaps.
func movesProblem(moves []plan.Move, part bool) string {
	pods, step, wave := map[string]bool{}, 0, 1
	for i, m := range moves {
		switch {
		case m.Step != step+1 && (!part || m.Step <= step || m.Step > maxStep):
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
