package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// MetricsRecorder updates metrics.
type MetricsRecorder interface {
	RecordPass(r plan.RunReport)
	RecordSkipped(strategies []string)
	// RecordNextPasses gets the time of the next pass of each strategy that has one.
	RecordNextPasses(next map[string]time.Time)
	// RecordState gets what the stored state says about evictions. backoffs are the ends of the back-offs.
	RecordState(breakerOpen bool, backoffs []time.Time)
	// RecordWaiting gets the number of moves that wait for approval, by strategy, after an approval.
	RecordWaiting(moves map[string]int)
}

// recordState updates the metrics about the state. A dry run does not follow the state.
func recordState(r MetricsRecorder, mode plan.Mode, st plan.PlannerState) {
	if mode != plan.Live {
		return
	}
	var backoffs []time.Time
	for _, b := range st.Backoffs {
		backoffs = append(backoffs, b.Until)
	}
	r.RecordState(st.Breaker != nil, backoffs)
}

// recordStateAtStart records the stored state when this process becomes leader, so that the metrics do not wait for the
// first pass. If reading fails, the first pass records it.
func recordStateAtStart(ctx context.Context, c *Controller) {
	if c.Mode != plan.Live || c.Store == nil {
		return
	}
	call, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	if st, err := c.Store.Load(call); err == nil {
		recordState(c.Recorder, c.Mode, st)
	}
}

// published is what the passes of this process have published, because passes publish only changes.
type published struct {
	// state is the state that was last passed to Events.StateChanged.
	state plan.PlannerState
	// unjudged has the causes why the last pass could judge nothing.
	unjudged plan.Plan
	// announced has the conditions that were announced but not saved; nil means that the state has them.
	announced []string
	// plan is the name of the object with the first plan of the last pass, or "".
	plan string
}

// publishState updates the metrics about the state, and publishes events about pauses and breaker trips that began or
// ended since the last pass.
func (p *pass) publishState() {
	is := p.journal.state
	recordState(p.Recorder, p.Mode, is)
	if p.PauseFollowed {
		is.Pause = nil
	}
	if p.Events != nil {
		p.Events.StateChanged(p.published.state, is)
	}
	p.published.state = is
}

// publishReport publishes the report, and announces the conditions that began with the pass. It records the announced
// ones in the state. The state of a dry run, and of a pass that could not begin, is not saved; this process then
// remembers them.
func (p *pass) publishReport() {
	p.published.plan = p.planName
	p.Recorder.RecordPass(p.report)
	p.published.publishUnjudged(p.Events, &p.report)
	if p.Notifier != nil {
		st := &p.journal.state
		if p.published.announced != nil {
			st.Announced = p.published.announced
		}
		st.Announced = p.Notifier.PassEnded(st.Announced, p.report, *st)
		p.published.announced = append([]string{}, st.Announced...)
	}
	p.OnReport(p.report)
}

// publishUnjudged publishes an event if the causes why a pass could judge nothing changed since the last pass. A pass
// that was interrupted before planning says nothing about them.
func (d *published) publishUnjudged(events EventPublisher, r *plan.RunReport) {
	if r.Approval != nil || r.EndedBeforePlanning() && len(r.Plan.NothingJudged) == 0 {
		return
	}
	if events != nil {
		events.JudgedNothing(d.unjudged, r.Plan)
	}
	d.unjudged = plan.Plan{NothingJudged: r.Plan.NothingJudged}
}
