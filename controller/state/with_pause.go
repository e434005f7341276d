package state

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

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
// the pause is unreadable, or if somebody paused in the way of an earlier version. Save stores the pause, too, for the
// case that the Rebalancer is deleted.
func (w WithPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := w.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	former, err := w.activeFormerPause(ctx)
	if err == nil {
		o, failure := w.Pauses.ensure(ctx, st, former)
		switch err = failure; {
		case err == nil && former != nil && o.Annotations[formerPauseKey] != string(former.UID):
			err = fmt.Errorf("somebody paused evictions with the ConfigMap %s, which this version does not read; run `evenkeel pause`, "+
				"and delete the ConfigMap", FormerPauseName)
		case err == nil:
			st.Pause, st.Rebalancer = ActivePause(o, w.Pauses.Clock.Now()), string(o.UID)
		}
	}
	if w.DryRun {
		return st, nil
	}
	return st, err
}

// activeFormerPause returns the ConfigMap with which an earlier version paused evictions, or nil if it pauses nothing.
func (w WithPause) activeFormerPause(ctx context.Context) (*corev1.ConfigMap, error) {
	m, err := w.get(ctx, FormerPauseName)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the pause of an earlier version: %w", err)
	case m == nil || !formerPause(m).ActiveAt(w.Pauses.Clock.Now()):
		return nil, nil
	}
	return m, nil
}
