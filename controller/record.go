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
func recordState(c *Controller, st plan.PlannerState) {
	if c.Mode != plan.Live {
		return
	}
	var backoffs []time.Time
	for _, b := range st.Backoffs {
		backoffs = append(backoffs, b.Until)
	}
	c.Recorder.RecordState(st.Breaker != nil, backoffs)
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
		recordState(c, st)
	}
}
