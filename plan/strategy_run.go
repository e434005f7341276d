package plan

import (
	"fmt"
	"time"
)

// MaxStrategyRuns is the maximum number of strategies in PlannerState.StrategyRuns.
const MaxStrategyRuns = 1000

// StrategyRun has the time of the last pass of a strategy.
type StrategyRun struct {
	// ByEvent is the start of the last pass that a node that became Ready started. Zero means none.
	ByEvent time.Time `json:"byEvent,omitzero"`
}

func (st *PlannerState) validateStrategyRuns() error {
	if n := len(st.StrategyRuns); n > MaxStrategyRuns {
		return fmt.Errorf("strategyRuns: %d entries (want at most %d)", n, MaxStrategyRuns)
	}
	if _, unnamed := st.StrategyRuns[""]; unnamed {
		return fmt.Errorf("strategyRuns: want the name of a strategy, found an empty one")
	}
	return nil
}
