package plan

import (
	"fmt"
	"time"
)

// MaxStrategyRuns is the maximum number of strategies in PlannerState.StrategyRuns.
const MaxStrategyRuns = 1000

// StrategyRun has the times of the last passes of a strategy.
type StrategyRun struct {
	// Started is the start of its last pass, or the time from which a process waits for one.
	Started time.Time `json:"started"`
	// ByEvent is the start of the last pass that a node that became Ready started. Zero means none.
	ByEvent time.Time `json:"byEvent,omitzero"`
}

func (st *PlannerState) validateStrategyRuns() error {
	if n := len(st.StrategyRuns); n > MaxStrategyRuns {
		return fmt.Errorf("strategyRuns: %d entries (want at most %d)", n, MaxStrategyRuns)
	}
	for name, r := range st.StrategyRuns {
		if name == "" || r.Started.IsZero() {
			return fmt.Errorf("strategyRuns[%q]: want the name of a strategy, and the start of its last pass", name)
		}
	}
	return nil
}
