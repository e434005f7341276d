package controller

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/shadow"
)

// Bindings tells of pods that a scheduler has just bound.
type Bindings interface {
	// NextBinding waits for the next binding, and returns the pod's UID; false
	// when ctx ends first.
	NextBinding(ctx context.Context) (uid string, ok bool)
}

// maxSchedulers bounds of how many schedulers counts are kept, and maxForetold
// how long the past counts: beyond it both counts are halved.
const (
	maxSchedulers = 16
	maxForetold   = 1000
)

// Shadow foretells ordinary bindings of schedulers that are not known, and
// counts how many came true. It is safe for concurrent use.
type Shadow struct {
	Observer Observer
	Bindings Bindings
	// Every is the least time between two looks at the cluster.
	Every time.Duration
	Clock clock.WithTicker
	Log   *slog.Logger
	// Counted takes note of each binding that was foretold; nil for none.
	Counted func(scheduler string, hit bool)

	mu   sync.Mutex
	seen map[string]plan.Bindings
}

// Run foretells bindings until ctx ends.
func (s *Shadow) Run(ctx context.Context) {
	for {
		uid, ok := s.Bindings.NextBinding(ctx)
		if !ok {
			return
		}
		s.judge(ctx, uid)
		t := s.Clock.NewTimer(s.Every)
		select {
		case <-t.C():
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

func (s *Shadow) judge(ctx context.Context, uid string) {
	snapshot, err := s.Observer.Snapshot(ctx)
	if err != nil {
		s.Log.Debug("looking at a binding", "error", err)
		return
	}
	p := snapshot.PodByUID(uid)
	if p == nil {
		return
	}
	if hit, told := shadow.Judge(snapshot, p.ID); told {
		s.count(shadow.SchedulerName(p.Object), hit)
	}
}

func (s *Shadow) count(scheduler string, hit bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.seen[scheduler]
	if !known && len(s.seen) == maxSchedulers {
		return
	}
	if s.seen == nil {
		s.seen = map[string]plan.Bindings{}
	}
	b.Foretold++
	if hit {
		b.Hits++
	}
	if b.Foretold > maxForetold {
		b.Foretold, b.Hits = b.Foretold/2, b.Hits/2
	}
	s.seen[scheduler] = b
	if s.Counted != nil {
		s.Counted(scheduler, hit)
	}
}

// Seen are the counts so far, by schedulerName.
func (s *Shadow) Seen() map[string]plan.Bindings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}
