package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
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
	switch err := p.updateWaiting(ctx); {
	case err != nil && needed:
		p.reportNotKept(err)
	case err == nil && !needed:
		p.journal.noneWaiting = p.report.Waiting == nil
	}
}

func (p *pass) keepsPlans() bool { return p.Waiting != nil && p.Mode == plan.Live }

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
	plans, err := p.Waiting.Load(call, p.journal.state.Made)
	switch {
	case err != nil && p.report.Approval != nil:
		return codedError{plan.StateUnavailable, fmt.Errorf("reading the moves that a person discarded: %w", err)}
	case err != nil:
		p.log.Warn("the moves that a person discarded could not be read; this pass may propose them again", "error", err)
	}
	p.journal.state.Discarded = plans.Register(p.Clock.Now()).Discarded()
	return nil
}

// updateWaiting replaces the waiting plans if the moves of the proposal differ. It announces the new plan.
func (p *pass) updateWaiting(ctx context.Context) error {
	n := waiting.Proposal{Plan: p.report.Plan.ForApproval(), ConfigHash: p.ConfigHash, Now: p.Clock.Now(), ValidFor: p.ValidFor,
		Name: record.Name(p.report.Started, p.report.RunID, v1alpha1.ModeApprove), Owner: p.journal.state.Rebalancer,
		NoRoom: p.Records != nil && p.Records.Full()}
	if n.Plan != nil {
		for _, s := range n.Plan.Strategies {
			if s.Due {
				n.Strategies = append(n.Strategies, s.Name)
			}
		}
	}
	var fresh *waiting.Plan
	var unfinished []waiting.Request
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	kept, err := p.Waiting.Update(call, p.journal.state.Made, func(before waiting.Plans) (after waiting.Plans, err error) {
		after, fresh = before.Known(p.journal.state.Made).Register(n.Now), nil
		if unfinished = after.Requests(); len(unfinished) == 0 {
			after, fresh, err = after.Keep(n)
		}
		return after, err
	})
	if err != nil {
		return err
	}
	p.journal.state.Made = kept.Made()
	if p.journal.stepsApproved = len(unfinished) > 0; p.journal.stepsApproved {
		p.log.Info("the waiting plans stay as they are, because approved steps are not executed yet", "waitingPlan", unfinished[0].Name)
	}
	discarded := slices.DeleteFunc(kept.Discarded(), func(d plan.DiscardedMove) bool {
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
		w.Announced = fresh != nil && fresh.Name == w.ID
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
