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

// stateWithOptionalPause is what is remembered, with the pause that holds.
type stateWithOptionalPause struct {
	stateLoader
	pauses state.PauseStore
	log    *slog.Logger
}

// Load leaves the pause out where it cannot be read, and says so: this is for plans,
// which evict nothing.
func (r stateWithOptionalPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := r.stateLoader.Load(ctx)
	if err != nil {
		return st, err
	}
	if st.Pause, err = r.pauses.Read(ctx); err != nil {
		r.log.Warn("whether evictions are paused is not known", "error", err)
	}
	return st, nil
}

func (g *globalFlags) pauseStore(client kubernetes.Interface, namespace string) state.PauseStore {
	return state.PauseStore{Client: client, Namespace: namespace, Clock: clock.RealClock{}}
}

// stateLoader reads what is remembered.
type stateLoader interface {
	Load(ctx context.Context) (plan.PlannerState, error)
}

// addSavedState adds what is remembered. That it cannot be read is no reason not to
// plan, as nothing is evicted here; the plan says so.
func addSavedState(ctx context.Context, o *cluster.Objects, m stateLoader) (*cluster.Objects, error) {
	st, err := m.Load(ctx)
	if err != nil {
		o.PlannerStateError = err.Error()
		return o, ctx.Err()
	}
	if o.PlannerState, err = json.Marshal(st); err != nil {
		return nil, fmt.Errorf("writing down what is remembered: %w", err)
	}
	return o, nil
}

// stateWithPause is what passes remember, with the pause that holds. Unlike recalled it
// fails where the pause cannot be read.
type stateWithPause struct {
	*state.Store
	pauses state.PauseStore
}

// Load implements controller.Memory.
func (m stateWithPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := m.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	st.Pause, err = m.pauses.Read(ctx)
	return st, err
}
