package plan

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxStrategyRuns is the maximum number of strategies in PlannerState.StrategyRuns.
const MaxStrategyRuns = 1000

// StrategyRun has the time of the last pass of a strategy.
type StrategyRun struct {
	// Started is for earlier programs, which refuse a state without it. Zero is stored as ByEvent.
	Started time.Time `json:"started"`
	// ByEvent is the start of the last pass that a node that became Ready started. Zero means none.
	ByEvent time.Time `json:"byEvent,omitzero"`
}

// MarshalJSON writes r with a time for earlier programs in the field started.
func (r StrategyRun) MarshalJSON() ([]byte, error) {
	type fields StrategyRun
	if r.Started.IsZero() {
		r.Started = r.ByEvent
	}
	return json.Marshal(fields(r))
}

func (st *PlannerState) validateStrategyRuns() error {
	if n := len(st.StrategyRuns); n > MaxStrategyRuns {
		return fmt.Errorf("strategyRuns: %d entries (want at most %d)", n, MaxStrategyRuns)
	}
	for name, r := range st.StrategyRuns {
		if name == "" || r.Started.IsZero() && r.ByEvent.IsZero() {
			return fmt.Errorf("strategyRuns[%q]: want the name of a strategy, and the start of its last pass", name)
		}
	}
	return nil
}
