package controller

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// Bindings tells of pods that a scheduler has just bound.
type Bindings interface {
	// NextBinding waits for the next binding, and returns the pod's UID and those
	// of pods that were bound shortly before; false when ctx ends first.
	NextBinding(ctx context.Context) (uid string, earlier []string, ok bool)
}

// maxPredicted is how long the past counts: beyond it all counts of the scheduler
// are halved.
const maxPredicted = 2 * trust.MaxMinBindings

// idleFactor is how much longer than the last look at a binding the rest after it
// is: a tenth of one core is spent on looking, however large the cluster.
const idleFactor = 9

// SchedulerTrust foretells ordinary bindings of schedulers that have no profile, and
// counts how many came true. Bindings that come while it looks at one, or rests,
// are let go. It is safe for concurrent use.
type SchedulerTrust struct {
	Observer Observer
	Bindings Bindings
	Clock    clock.WithTicker
	Log      *slog.Logger
	// OnCount takes note of a scheduler's counts whenever they change; told is
	// whether the binding was foretold at all, hit whether it came true.
	OnCount func(scheduler string, b plan.SchedulerBindings, hit, told bool)

	mu     sync.Mutex
	counts map[string]plan.SchedulerBindings
}

// Run foretells bindings until ctx ends.
func (s *SchedulerTrust) Run(ctx context.Context) {
	for {
		uid, earlier, ok := s.Bindings.NextBinding(ctx)
		if !ok {
			return
		}
		begun := s.Clock.Now()
		s.judgeBinding(ctx, uid, earlier)
		if !s.sleep(ctx, idleFactor*s.Clock.Since(begun)) {
			return
		}
	}
}

// sleep waits; false when ctx ends first.
func (s *SchedulerTrust) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := s.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (s *SchedulerTrust) judgeBinding(ctx context.Context, uid string, earlier []string) {
	snapshot, err := s.Observer.Snapshot(ctx)
	if err != nil {
		s.Log.Debug("a binding was not looked at", "pod", uid, "error", err)
		return
	}
	p := snapshot.PodByUID(uid)
	if p == nil {
		return // gone already
	}
	before := make(map[string]bool, len(earlier))
	for _, e := range earlier {
		before[e] = true
	}
	hit, told := trust.Judge(snapshot, p.ID, before)
	name := trust.SchedulerName(p.Object)
	s.add(name, hit, told)
	s.Log.Debug("looked at a binding", "scheduler", name, "pod", p.Object.Namespace+"/"+p.Object.Name, "node", p.Object.Spec.NodeName, "foretold", told, "hit", hit)
}

func (s *SchedulerTrust) add(scheduler string, hit, told bool) {
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
	if told {
		b.Predicted++
	}
	if hit {
		b.Hits++
	}
	if b.Predicted > maxPredicted {
		b = plan.SchedulerBindings{Seen: b.Seen / 2, Predicted: b.Predicted / 2, Hits: b.Hits / 2}
	}
	s.counts[scheduler] = b
	s.OnCount(scheduler, b, hit, told)
}

// Counts are the counts so far, by schedulerName: at most plan.MaxSchedulers, those
// whose bindings were seen first.
func (s *SchedulerTrust) Counts() map[string]plan.SchedulerBindings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}
