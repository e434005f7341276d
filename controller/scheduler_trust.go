package controller

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// BindingSource delivers pods that a scheduler has just bound.
type BindingSource interface {
	// NextBinding waits for the next binding. NextBinding returns the UID of the pod, and the UIDs
	// of pods that were bound shortly before. NextBinding returns false if ctx ends first.
	NextBinding(ctx context.Context) (uid string, earlier []string, ok bool)
}

// maxPredicted is the maximum number of counted predictions per scheduler. When a scheduler exceeds
// it, all its counts are halved, so that old bindings lose weight.
const maxPredicted = 2 * trust.MaxMinBindings

// idleFactor is the ratio of the idle time after a check to the duration of the check. With a
// factor of 9, checks use at most a tenth of one CPU core, whatever the cluster size.
const idleFactor = 9

// SchedulerTrust predicts ordinary bindings of schedulers without a profile, and counts how many
// predictions were right. SchedulerTrust ignores bindings that arrive while it checks another
// binding or is idle. SchedulerTrust is safe for concurrent use.
type SchedulerTrust struct {
	Observer Observer
	Bindings BindingSource
	Clock    clock.WithTicker
	Log      *slog.Logger
	// OnCount receives the counts of a scheduler whenever they change. predicted reports whether
	// the model could predict the binding, and hit reports whether the prediction was right.
	OnCount func(scheduler string, b plan.SchedulerBindings, hit, predicted bool)

	mu     sync.Mutex
	counts map[string]plan.SchedulerBindings
}

// Run checks bindings until ctx ends.
func (s *SchedulerTrust) Run(ctx context.Context) {
	for {
		uid, earlier, ok := s.Bindings.NextBinding(ctx)
		if !ok {
			return
		}
		begun := s.Clock.Now()
		s.checkBinding(ctx, uid, earlier)
		if !wait.Sleep(ctx, s.Clock, idleFactor*s.Clock.Since(begun)) {
			return
		}
	}
}

func (s *SchedulerTrust) checkBinding(ctx context.Context, uid string, earlier []string) {
	snapshot, err := s.Observer.Snapshot(ctx)
	if err != nil {
		s.Log.Debug("a binding could not be checked", "pod", uid, "error", err)
		return
	}
	p := snapshot.PodByUID(uid)
	if p == nil {
		return // the pod is gone already
	}
	boundBefore := make(map[string]bool, len(earlier))
	for _, e := range earlier {
		boundBefore[e] = true
	}
	hit, predicted := trust.CheckBinding(snapshot, p.ID, boundBefore)
	name := trust.SchedulerName(p.Object)
	s.countBinding(name, hit, predicted)
	s.Log.Debug("checked a binding", "scheduler", name, "pod", p.Object.Namespace+"/"+p.Object.Name,
		"node", p.Object.Spec.NodeName, "predicted", predicted, "hit", hit)
}

// countBinding counts one binding. countBinding ignores schedulers beyond the first plan.MaxSchedulers.
func (s *SchedulerTrust) countBinding(scheduler string, hit, predicted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.counts[scheduler]
	if !known && len(s.counts) == plan.MaxSchedulers {
		return
	}
	if s.counts == nil {
		s.counts = map[string]plan.SchedulerBindings{}
	}
	b.Seen++
	if predicted {
		b.Predicted++
	}
	if hit {
		b.Hits++
	}
	if b.Predicted > maxPredicted {
		b = plan.SchedulerBindings{Seen: b.Seen / 2, Predicted: b.Predicted / 2, Hits: b.Hits / 2}
	}
	s.counts[scheduler] = b
	s.OnCount(scheduler, b, hit, predicted)
}

// Counts returns the counts so far, by schedulerName. Counts covers at most plan.MaxSchedulers
// schedulers: those whose bindings were checked first.
func (s *SchedulerTrust) Counts() map[string]plan.SchedulerBindings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}
