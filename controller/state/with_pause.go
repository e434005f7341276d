package state

import (
	"context"

	"github.com/evenkeel-project/evenkeel/plan"
)

// WithPause loads the state and the current pause.
type WithPause struct {
	*Store
	Pauses PauseStore
}

// Load returns the saved state with the current pause. Load fails if the pause is unreadable.
func (w WithPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := w.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	st.Pause, err = w.Pauses.Read(ctx)
	return st, err
}
