package state

import (
	"context"
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// WithPause loads the state and the current pause.
type WithPause struct {
	*Store
	Pauses PauseStore
	// DryRun loads the state without the pause if the pause cannot be read, because nothing is evicted.
	DryRun bool
}

// Load returns the saved state with the current pause, and creates the Rebalancer if it does not exist. Load fails if
// the pause is unreadable. Save stores the pause, too, for the case that the Rebalancer is deleted.
func (w WithPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := w.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	pause, uid, err := w.Pauses.ensure(ctx, st, func() (*plan.Pause, error) { return w.formerPause(ctx) })
	switch {
	case err == nil:
		st.Pause, st.Rebalancer = pause, uid
	case w.DryRun:
		return st, nil
	}
	return st, err
}

// formerPause returns the pause that an earlier version stored in a ConfigMap, or nil.
func (w WithPause) formerPause(ctx context.Context) (*plan.Pause, error) {
	m, err := w.get(ctx, FormerPauseName)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the pause of an earlier version: %w", err)
	case m == nil:
		return nil, nil
	}
	if p := formerPause(m); p.ActiveAt(w.Pauses.Clock.Now()) {
		return p, nil
	}
	return nil, nil
}
