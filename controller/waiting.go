package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/plan"
)

// keepProposal keeps the proposal of the pass until a person approves it. While approved steps of a waiting plan are
// not executed yet, the plans stay as they are.
func (p *pass) keepProposal(ctx context.Context) {
	if !p.keepsPlans() || p.report.EndedBeforePlanning() {
		return
	}
	needed := needsApproval(p.Strategies)
	p.journal.noneWaiting = p.journal.noneWaiting && !needed
	if p.journal.noneWaiting {
		return
	}
	p.expectStep("keeping the plan that needs approval")
	of, err := p.Approvals.Unfinished(ctx)
	if of != "" {
		p.log.Info("the waiting plans stay as they are, because approved steps are not executed yet", "waitingPlan", of)
	}
	if err == nil {
		err = p.updateWaiting(ctx, of == "")
	}
	switch {
	case err != nil && needed:
		p.reportNotKept(err)
	case err == nil && !needed:
		p.journal.noneWaiting = p.report.Waiting == nil
	}
}

func (p *pass) keepsPlans() bool {
	return p.Waiting != nil && p.Approvals != nil && p.Mode == plan.Live
}

// needsApproval reports whether any strategy has mode approve.
func needsApproval(all []schedule.Strategy) bool {
	return slices.ContainsFunc(all, func(s schedule.Strategy) bool { return s.Mode == plan.Approve })
}

// loadDiscarded adds the moves that a person discarded to the state. If they cannot be read, approved steps are not
// executed. Another pass continues, because it does not execute the moves of strategies in mode approve.
func (p *pass) loadDiscarded(ctx context.Context) error {
	p.journal.state.Discarded = nil
	if !p.keepsPlans() || !needsApproval(p.Strategies) {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	plans, err := p.Waiting.Load(call)
	switch {
	case err != nil && p.report.Approval != nil:
		return codedError{plan.StateUnavailable, fmt.Errorf("reading the moves that a person discarded: %w", err)}
	case err != nil:
		p.log.Warn("the moves that a person discarded could not be read; this pass may propose them again", "error", err)
	}
	p.journal.state.Discarded = plans.Expire(p.Clock.Now()).Discarded
	return nil
}

// updateWaiting replaces the waiting plans if replace is true and the moves of the proposal differ.
// It announces the new plan.
func (p *pass) updateWaiting(ctx context.Context, replace bool) error {
	n := waiting.Proposal{Plan: p.report.Plan.ForApproval(), ConfigHash: p.ConfigHash, Now: p.Clock.Now(), ValidFor: p.ValidFor}
	if n.Plan != nil {
		for _, s := range n.Plan.Strategies {
			if s.Due {
				n.Strategies = append(n.Strategies, s.Name)
			}
		}
	}
	var kept waiting.Plans
	var fresh *waiting.Plan
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := p.Waiting.Update(call, func(before waiting.Plans) (waiting.Plans, error) {
		if kept, fresh = before.Expire(n.Now), nil; replace {
			kept, fresh = before.Keep(n)
		}
		return kept, nil
	}); err != nil {
		return err
	}
	discarded := slices.DeleteFunc(slices.Clone(kept.Discarded), func(d plan.DiscardedMove) bool {
		return !hasStrategy(p.Strategies, d.Strategy) || p.snapshot.PodByUID(d.PodUID) == nil
	})
	if len(kept.Waiting)+len(discarded) == 0 {
		return nil
	}
	p.report.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{}, Discarded: discarded}
	for i := range kept.Waiting {
		w := kept.Waiting[i].Summary()
		// Another user may have written the names.
		maps.DeleteFunc(w.Strategies, func(name string, _ int) bool { return !hasStrategy(p.Strategies, name) })
		w.Announced = fresh != nil && fresh.ID == w.ID
		p.report.Waiting.Plans = append(p.report.Waiting.Plans, w)
		if !w.Announced {
			continue
		}
		p.log.Info("a plan waits for approval", "waitingPlan", w.ID, "steps", w.Steps(), "strategies", w.Strategies, "expires", w.Expires,
			"toApprove", "evenkeel approve "+w.ID)
		if p.Events != nil {
			p.Events.PlanWaiting(w)
		}
	}
	return nil
}

func hasStrategy(all []schedule.Strategy, name string) bool {
	return slices.ContainsFunc(all, func(s schedule.Strategy) bool { return s.Name == name })
}

// reportNotKept reports that the proposal does not wait for approval.
func (p *pass) reportNotKept(err error) {
	why := plan.Reason{Code: plan.StateUnavailable, Message: "the plan of this pass does not wait for approval: " + err.Error()}
	if errors.Is(err, waiting.ErrTooLarge) {
		why = plan.Reason{Code: plan.ProposalTooLarge, Message: err.Error()}
	}
	p.report.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{}, Problem: &why}
	p.log.Warn("the plan of this pass does not wait for approval", "error", err)
	if p.Events != nil {
		p.Events.PlanNotKept(why)
	}
}

// markExecuted marks the executed steps of a waiting plan, so that nobody approves them again, and records how many
// moves still wait. After an error, they stay approved: a second approval finds that their pods are gone.
func (c *Controller) markExecuted(ctx context.Context, by plan.Approval, outcomes []plan.Outcome) {
	if by.WaitingPlan == "" || c.Waiting == nil || len(outcomes) == 0 {
		return
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	var left waiting.Plans
	if err := c.Waiting.Update(call, func(p waiting.Plans) (waiting.Plans, error) {
		left = p.Execute(by.WaitingPlan, outcomes, c.Clock.Now())
		return left, nil
	}); err != nil {
		c.Log.Warn("the executed steps of a waiting plan could not be marked", "waitingPlan", by.WaitingPlan, "error", err)
		return
	}
	c.Recorder.RecordWaiting(countWaiting(c.Strategies, left))
}

// countWaiting counts the moves that wait, for each strategy with mode approve.
func countWaiting(all []schedule.Strategy, plans waiting.Plans) map[string]int {
	moves := map[string]int{}
	for _, s := range all {
		if s.Mode == plan.Approve {
			moves[s.Name] = 0
		}
	}
	for i := range plans.Waiting {
		for name, n := range plans.Waiting[i].Summary().Strategies {
			if _, known := moves[name]; known { // another user may have written the names
				moves[name] += n
			}
		}
	}
	return moves
}

// markApproved marks the steps of a request as approved in their waiting plan. It returns the reason why the steps must
// not be executed, or "". After an error, the caller tries again later.
func (c *Controller) markApproved(ctx context.Context, r *approval.Request, by plan.Approval) (rejected string, err error) {
	if r.WaitingPlan == "" {
		return "", nil
	}
	if c.Waiting == nil {
		return "this process keeps no waiting plans", nil
	}
	err = c.Waiting.Update(ctx, func(p waiting.Plans) (waiting.Plans, error) { return p.Approve(r.Plan, by, c.Clock.Now()) })
	if why := (waiting.Rejection{}); errors.As(err, &why) {
		return why.Error(), nil
	}
	return "", err
}
