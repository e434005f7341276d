package main

import (
	"context"
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/planner"
)

// dryRunObserver adds to each snapshot the pressure hints that a live run would have written.
type dryRunObserver struct {
	controller.Observer
	planner *planner.Planner
}

// Snapshot implements controller.Observer.
func (f dryRunObserver) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	s, err := f.Observer.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return withPredictedHints(f.planner, s)
}

// withPredictedHints returns the snapshot with the pressure hints that the planner predicts.
func withPredictedHints(p *planner.Planner, s *cluster.Snapshot) (*cluster.Snapshot, error) {
	s, err := p.PredictHints(s)
	if err != nil {
		return nil, fmt.Errorf("predicting pressure hints: %w", err)
	}
	return s, nil
}
