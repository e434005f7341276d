package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// storePlan stores a plan with moves as an object, before anything is evicted for it. An approved plan is stored and
// claimed already. storePlan reports whether the pass may execute the plan. A dry run goes on without the object.
func (p *pass) storePlan(ctx context.Context, made *plan.Plan) bool {
	if p.Records != nil && p.approved != nil {
		p.Records.Adopt(p.approved.Object())
		p.planName = p.approved.Name
	}
	if p.Records == nil || p.approved != nil || len(made.Moves) == 0 {
		return true
	}
	p.expectStep("storing the plan")
	call, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	name, err := p.Records.Begin(call, made, &p.report, record.ModeOf(&p.report), p.journal.state.Rebalancer)
	switch {
	case err == nil && p.planName == "":
		p.planName = name
	case err != nil && p.Mode == plan.Live:
		p.report.Stopped = &plan.Reason{Code: plan.StateUnavailable, Message: "nothing is evicted without a record: " + err.Error()}
		if ctx.Err() != nil {
			p.report.Stopped = &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop before it had stored the plan"}
		}
		p.dropRemaining(*made, p.report.Stopped)
		return false
	case err != nil:
		p.log.Warn("this dry run keeps no history", "error", err)
	}
	return true
}

// recordsTimeout bounds the writes of a pass that has ended.
const recordsTimeout = 5 * time.Second

// finishRecords writes the end of the pass to the objects of the release, also after SIGTERM. It returns an error if a
// plan does not say what happened.
func (p *pass) finishRecords(ctx context.Context) error {
	if p.Records == nil {
		return nil
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordsTimeout)
	defer cancel()
	modes := map[string]plan.StrategyMode{}
	for _, s := range p.Strategies {
		modes[s.Name] = s.Mode
	}
	next := p.timetable
	if next == nil { // of a CronJob, whose schedules are those of the configuration
		next = schedule.New(schedule.RulesOf(p.Strategies), p.report.Finished)
	}
	return p.Records.Finish(call, record.Pass{Report: &p.report, State: p.journal.state, Due: p.due, Modes: modes, Next: next.NextByStrategy(),
		ConfigHash: p.ConfigHash})
}
