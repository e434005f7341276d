package main

import (
	"context"
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/planner"
)

// dryRunObserver sees the cluster as the pressure hints would leave it that a dry run does
// not write.
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

func withPredictedHints(p *planner.Planner, s *cluster.Snapshot) (*cluster.Snapshot, error) {
	s, err := p.PredictHints(s)
	if err != nil {
		return nil, fmt.Errorf("foretelling pressure hints: %w", err)
	}
	return s, nil
}
