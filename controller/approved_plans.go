package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/waiting"
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
	// awaited is the name of the last plan that waits for the end of the calls of an earlier process.
	awaited string
	// failure is the last error, so that a lasting one is logged once.
	failure string
}

// ExecuteApproved executes the approved steps of a waiting plan, if there are any. A single pass calls it before it
// plans.
func (c *Controller) ExecuteApproved(ctx context.Context) { c.approved.executeNext(ctx, c) }

// executeNext takes the decisions of people into account, and executes the next approved plan, if there is one.
func (a *approvedPlans) executeNext(ctx context.Context, c *Controller) {
	if c.Waiting == nil || c.Mode != plan.Live {
		return
	}
	all, err := a.requests(ctx, c, c.journal.stepsApproved)
	if err != nil && a.failure != err.Error() {
		c.Log.Warn("decisions about plans are not taken into account", "error", err)
		a.failure = err.Error()
	}
	if err != nil {
		return
	}
	a.failure, c.journal.stepsApproved = "", len(all) > 0
	for i := range all {
		if !a.awaitsEarlierProcess(ctx, &c.Dependencies, &all[i]) {
			if len(c.Reloads) > 0 {
				return // the new configuration applies first; stepsApproved stays set, so the next poll asks again
			}
			_, _ = a.execute(ctx, c, &all[i]) // it logs its error
			return
		}
	}
}

// ExecuteStored executes the approved steps of one plan. It returns an error if none of its steps is approved, or if
// the pass could not start.
func (c *Controller) ExecuteStored(ctx context.Context, name string) (plan.RunReport, error) {
	all, err := c.approved.requests(ctx, c, true)
	if err != nil {
		return plan.RunReport{}, err
	}
	for i := range all {
		if all[i].Name == name {
			return c.approved.execute(ctx, c, &all[i])
		}
	}
	return plan.RunReport{}, fmt.Errorf("no step of plan %s is approved and not executed", name)
}

// requests takes the decisions of people into account, and returns the approved steps. Unless always is set, it returns
// none if no plan has changed.
func (a *approvedPlans) requests(ctx context.Context, c *Controller, always bool) ([]waiting.Request, error) {
	if changed, err := c.Waiting.Changed(ctx, c.journal.state.Made); err != nil || !changed && !always {
		return nil, err
	}
	st, err := c.Store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the stored state, which has the plans of earlier passes: %w", err)
	}
	made := append(st.Made, c.journal.state.Made...) // the last pass may not have saved its plan
	plans, err := c.Waiting.Update(ctx, made, func(p waiting.Plans) (waiting.Plans, error) {
		return p.Known(made).Register(c.Clock.Now()), nil
	})
	if err != nil {
		return nil, err
	}
	c.journal.noneWaiting = !needsApproval(c.Strategies) && len(plans.Waiting)+len(plans.Marked) == 0
	c.Recorder.RecordWaiting(countWaiting(c.Strategies, plans))
	return plans.Requests(), nil
}

// execute executes an approved plan. The next leader calls it again if this process ends before it has written the
// outcomes: pods that are gone are not evicted again, because each move names the UID of its pod.
func (a *approvedPlans) execute(ctx context.Context, c *Controller, r *waiting.Request) (report plan.RunReport, err error) {
	by := plan.Approval{By: r.ApprovedBy, At: r.ApprovedAt, WaitingPlan: r.Name}
	log := c.Log.With("waitingPlan", r.Name, "approvedBy", by.By)
	if why := exhausted(r); why != "" {
		log.Warn("an approved plan is not executed again", "reason", why)
		if err = c.Waiting.Interrupt(ctx, r, why); err != nil {
			log.Warn("the end of an approved plan could not be written", "error", err)
		}
		return report, errors.Join(errors.New(why), err)
	}
	if err = c.Waiting.Claim(ctx, r, c.Holder); err != nil {
		log.Warn("an approved plan is not executed", "error", err)
		return report, err
	}
	if r.Attempts > 1 {
		by.Attempt = r.Attempts
	}
	if report, err = c.apply(ctx, r, by); err != nil {
		log.Error("an approved plan could not be executed", "error", err)
	}
	if why := report.Stopped; why != nil && why.Code == plan.PlanRefused {
		log.Warn("an approved plan was refused; nothing was evicted for it", "reason", why.Message)
		if c.Events != nil {
			c.Events.PlanRefused(by, *why)
		}
	}
	return report, err
}

// exhausted returns the reason why a request that was claimed before must not be executed again, or "".
func exhausted(r *waiting.Request) string {
	if r.Attempts < maxAttempts {
		return ""
	}
	return fmt.Sprintf("%d processes took the plan, one after the other, and each ended before it had written its outcomes; "+
		"their reports and the recovered runs contain their evictions", r.Attempts)
}

// resumeDelay is how long the evictions of a process that has ended may still commit after it reserved them.
const resumeDelay = evictor.LongestCall

// awaitsEarlierProcess reports whether a plan must not be resumed yet, because the outcome of
// evictions of an earlier process is unknown: they may still commit, or their workloads back off.
// Without this wait, the moves of these workloads would be dropped.
func (a *approvedPlans) awaitsEarlierProcess(ctx context.Context, d *Dependencies, r *waiting.Request) bool {
	now := d.Clock.Now()
	if r.Attempts == 0 || exhausted(r) != "" || !now.Before(r.Plan.Expires) {
		return false
	}
	st, err := d.Store.Load(ctx)
	if err != nil {
		d.Log.Warn("an approved plan is not resumed yet, because the stored state cannot be read", "waitingPlan", r.Name, "error", err)
		return true
	}
	waits := hasOpenReservations(st, now) || slices.ContainsFunc(r.Plan.Moves,
		func(m plan.Move) bool { return isOutcomeUnknown(st, history.WorkloadOfMove(m), now) })
	if waits && a.awaited != r.Name {
		a.awaited = r.Name
		d.Log.Info("the process that executed an approved plan has ended; the plan is resumed when the outcome of its evictions is known",
			"waitingPlan", r.Name, "holder", r.Holder, "until", r.Plan.Expires)
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
