package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

const (
	approvalPollInterval = 5 * time.Second
	// maxAttempts bounds how many processes execute the same approved plan, one after the other.
	maxAttempts = 3
)

// approvedPlans executes the plans that a person approved.
type approvedPlans struct {
	// begun identifies the last request that this process began to execute. The answer to a claim can be lost, so a
	// request that names this process as its holder may not have begun.
	begun struct {
		plan       string
		approvedAt time.Time
	}
	// unanswered is the last executed plan until its report is stored.
	unanswered *unansweredPlan
	// awaited is the ID of the last request that waits for the end of the calls of an earlier process.
	awaited string
}

// ExecuteApproved executes the approved steps of a waiting plan, if there are any. A single pass calls it before it
// plans. Unlike Run, it takes no plans of `evenkeel apply`, which executes them itself while no process leads.
func (c *Controller) ExecuteApproved(ctx context.Context) { c.approved.executeNext(ctx, c, false) }

// executeNext executes the next plan that a person approved, if there is one. saved permits plans of `evenkeel apply`.
func (a *approvedPlans) executeNext(ctx context.Context, c *Controller, saved bool) {
	if c.Approvals == nil || c.Mode != plan.Live {
		return
	}
	if a.unanswered != nil && !a.answer(ctx, &c.Dependencies) {
		return // Pending would take the request for one whose process has ended
	}
	r, err := c.Approvals.Pending(ctx)
	if err != nil {
		c.Log.Warn("an approved plan is not executed", "error", err)
	}
	if r != nil && (saved || r.WaitingPlan != "") && !a.awaitsEarlierProcess(ctx, &c.Dependencies, r) {
		a.executeRequest(ctx, c, r)
	}
}

// executeRequest executes an approved plan and stores its report. The next leader calls it again if
// this process ends before it has stored the report: pods that are gone are not evicted again,
// because each move names the UID of its pod.
func (a *approvedPlans) executeRequest(ctx context.Context, c *Controller, r *approval.Request) {
	by := plan.Approval{By: r.ApprovedBy, At: r.ApprovedAt, WaitingPlan: r.WaitingPlan}
	log := c.Log.With("plan", r.Plan.ID, "waitingPlan", r.WaitingPlan, "approvedBy", by.By)
	if why := a.exhausted(r, c.Holder); why != "" {
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
	a.begun.plan, a.begun.approvedAt = r.Plan.ID, r.ApprovedAt
	if r.Attempts > 1 {
		by.Attempt = r.Attempts
	}
	var report plan.RunReport
	if rejected != "" {
		report = c.reject(ctx, r.Plan, by, rejected)
	} else if report, err = c.Apply(ctx, r.Plan, by); err != nil {
		log.Error("an approved plan could not be executed", "error", err)
	}
	c.markExecuted(ctx, by, report.Outcomes)
	if why := report.Stopped; why != nil && why.Code == plan.PlanRefused {
		log.Warn("an approved plan was refused; nothing was evicted for it", "reason", why.Message)
		if c.Events != nil {
			c.Events.PlanRefused(by, *why)
		}
	}
	a.unanswered = &unansweredPlan{request: *r, report: report, since: c.Clock.Now()}
	a.answer(ctx, &c.Dependencies)
}

// exhausted returns the reason why a request that was claimed before must not be executed again, or "".
func (a *approvedPlans) exhausted(r *approval.Request, holder string) string {
	switch {
	case r.Attempts > 0 && r.Holder == holder && r.Plan.ID == a.begun.plan && r.ApprovedAt == a.begun.approvedAt:
		return "the process that took the plan could not store its report; the reports of the current leader contain its evictions"
	case r.Attempts >= maxAttempts:
		return fmt.Sprintf("%d processes took the plan, one after the other, and each ended before it had stored its report; "+
			"their reports and the recovered runs contain their evictions", r.Attempts)
	}
	return ""
}

// resumeDelay is how long the evictions of a process that has ended may still commit after it reserved them.
const resumeDelay = evictor.LongestCall

// awaitsEarlierProcess reports whether a plan must not be resumed yet, because the outcome of
// evictions of an earlier process is unknown: they may still commit, or their workloads back off.
// Without this wait, the moves of these workloads would be dropped.
func (a *approvedPlans) awaitsEarlierProcess(ctx context.Context, d *Dependencies, r *approval.Request) bool {
	now := d.Clock.Now()
	if r.Attempts == 0 || a.exhausted(r, d.Holder) != "" || !now.Before(r.Plan.Expires) {
		return false
	}
	st, err := d.Store.Load(ctx)
	if err != nil {
		d.Log.Warn("an approved plan is not resumed yet, because the stored state cannot be read", "plan", r.Plan.ID, "error", err)
		return true
	}
	waits := hasOpenReservations(st, now) || slices.ContainsFunc(r.Plan.Moves,
		func(m plan.Move) bool { return isOutcomeUnknown(st, history.WorkloadOfMove(m), now) })
	if waits && a.awaited != r.Plan.ID {
		a.awaited = r.Plan.ID
		d.Log.Info("the process that executed an approved plan has ended; the plan is resumed when the outcome of its evictions is known",
			"plan", r.Plan.ID, "holder", r.Holder, "until", r.Plan.Expires)
	}
	return waits
}

// isOutcomeUnknown reports whether a workload backs off because of an eviction with an unknown
// outcome, or whether such an eviction may still commit.
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
func (a *approvedPlans) answer(ctx context.Context, d *Dependencies) bool {
	u := a.unanswered
	err := retryAtEnd(ctx, d.Clock, func(ctx context.Context) error { return d.Approvals.Complete(ctx, u.request, u.report) })
	late := err != nil && !errors.Is(err, approval.ErrReplaced) && d.Clock.Since(u.since) < maxAnswerDelay
	if err != nil {
		d.Log.Warn("the report of an approved plan could not be stored for the person who approved the plan", "plan", u.request.Plan.ID,
			"willRetry", late, "error", err)
	}
	if !late {
		a.unanswered = nil
	}
	return !late
}
