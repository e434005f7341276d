package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/plan"
)

// pauseInterval is the time between two reads of the pause, and pauseTimeout bounds each read.
const (
	pauseInterval = 15 * time.Second
	pauseTimeout  = 10 * time.Second
)

// PauseReader reads the pause of evictions. The result is nil if evictions are not paused.
type PauseReader interface {
	Read(ctx context.Context) (*plan.Pause, error)
}

// PauseRecorder records the pause as a metric. known is false if the pause could not be read.
type PauseRecorder interface{ RecordPause(paused, known bool) }

// PauseFollower reads the pause between and during passes. It logs each pause that begins or ends, publishes an event,
// and sets the metric and the conditions of the Rebalancer. It decides nothing: the evictor reads the pause before
// every eviction.
type PauseFollower struct {
	Pauses PauseReader
	Events interface {
		StateChanged(before, after plan.PlannerState)
	}
	Recorder PauseRecorder
	// Status writes the pause to the conditions of the Rebalancer. An error has no effect but a further attempt.
	Status interface {
		WritePause(ctx context.Context) error
	}
	Clock clock.WithTicker
	Log   *slog.Logger

	last    *plan.Pause
	failing bool
	written bool // the conditions say what last says
}

// Run reads the pause until ctx ends.
func (f *PauseFollower) Run(ctx context.Context) {
	ticker := f.Clock.NewTicker(pauseInterval)
	defer ticker.Stop()
	for {
		f.Check(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// Check reads the pause once.
func (f *PauseFollower) Check(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, pauseTimeout)
	defer cancel()
	is, err := f.Pauses.Read(call)
	if ctx.Err() != nil {
		return
	}
	f.Recorder.RecordPause(is != nil, err == nil)
	if err != nil {
		if !f.failing && (f.last != nil || !errors.Is(err, state.ErrNoRebalancer)) { // the first pass creates the Rebalancer
			f.Log.Warn("it is unknown whether evictions are paused; nothing is evicted until the pause can be read", "error", err)
		}
		f.failing = true
		return
	}
	f.failing = false
	was := f.last
	f.last = is
	changed := (was == nil) != (is == nil) || is != nil && *was != *is
	switch {
	case is != nil && changed:
		f.Log.Info("evictions are paused", "pause", is.Block().Reason.Message)
	case was != nil && is == nil:
		f.Log.Info("the pause has ended: evictions are permitted again", "pausedBy", was.By)
	}
	if changed || !f.written {
		err := f.Status.WritePause(call)
		if f.written = err == nil; err != nil {
			f.Log.Debug("the conditions of the Rebalancer do not show yet whether evictions are paused", "error", err)
		}
	}
	f.Events.StateChanged(plan.PlannerState{Pause: was}, plan.PlannerState{Pause: is})
}
