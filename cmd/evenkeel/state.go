package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/plan"
)

// stateWithOptionalPause loads the saved state and the current pause for commands that only plan.
type stateWithOptionalPause struct {
	stateLoader
	pauses state.PauseStore
	log    *slog.Logger
}

// Load returns the state without the pause, and logs a warning, if the pause is unreadable.
func (r stateWithOptionalPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := r.stateLoader.Load(ctx)
	if err != nil {
		return st, err
	}
	if st.Pause, err = r.pauses.Read(ctx); err != nil {
		r.log.Warn("cannot read the pause of evictions", "error", err)
	}
	return st, nil
}

func (g *globalFlags) pauseStore(client kubernetes.Interface, namespace string) state.PauseStore {
	return state.PauseStore{Client: client, Namespace: namespace, Clock: clock.RealClock{}}
}

// stateLoader loads the saved state.
type stateLoader interface {
	Load(ctx context.Context) (plan.PlannerState, error)
}

// addSavedState adds the saved state to the objects. If the state is unreadable, addSavedState adds the error
// instead: the plan then shows the error and evicts nothing.
func addSavedState(ctx context.Context, o *cluster.Objects, m stateLoader) (*cluster.Objects, error) {
	st, err := m.Load(ctx)
	if err != nil {
		o.PlannerStateError = err.Error()
		return o, ctx.Err()
	}
	if o.PlannerState, err = json.Marshal(st); err != nil {
		return nil, fmt.Errorf("encoding the saved state: %w", err)
	}
	return o, nil
}

// stateWithPause loads the saved state and the current pause for passes. Load fails if the pause is unreadable.
type stateWithPause struct {
	*state.Store
	pauses state.PauseStore
}

// Load implements controller.StateStore.
func (m stateWithPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := m.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	st.Pause, err = m.pauses.Read(ctx)
	return st, err
}
