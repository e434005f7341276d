package controller

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// BindingSource delivers pods that a scheduler has just bound.
type BindingSource interface {
	// NextBinding waits for the next binding. NextBinding returns the UID of the pod, and the UIDs
	// of pods that were bound shortly before. NextBinding returns false if ctx ends first.
	NextBinding(ctx context.Context) (uid string, earlier []string, ok bool)
}

// idleFactor is the ratio of the idle time after a check to the duration of the check. With a
// factor of 9, checks use at most a tenth of one CPU core, whatever the cluster size.
const idleFactor = 9

// SchedulerTrust predicts ordinary bindings and counts how many predictions were right. It ignores
// bindings that arrive while it checks another binding or is idle. SchedulerTrust is safe for
// concurrent use.
type SchedulerTrust struct {
	// Snapshot returns the last known state of the cluster, without events. It makes no requests, because bindings are
	// checked all the time.
	Snapshot func() (*cluster.Snapshot, error)
	Bindings BindingSource
	// Profiles returns the configured profiles, and how many predictions count.
	Profiles func() (profiles map[string]scheduler.Profile, window int)
	Clock    clock.WithTicker
	Log      *slog.Logger
	// OnCount receives the counts of a scheduler whenever they change. predicted reports whether
	// the model could predict the binding, and hit reports whether the prediction was right.
	OnCount func(scheduler string, b plan.SchedulerBindings, hit, predicted bool)

	computing sync.Mutex // held by a check, and by a pass while it plans

	mu       sync.Mutex
	counts   map[string]*checkedBindings
	restored bool
}

// checkedBindings holds the results for one scheduler.
type checkedBindings struct {
	model string // trust.ModelOf
	seen  int
	// predictions are the latest ones, the oldest first, up to trust.MaxMinBindings. If there are more, the namespace
	// with most of them loses its oldest one.
	predictions []checkedPrediction
}

type checkedPrediction struct {
	// namespace is that of the pod, or formerMostWrong or formerProcess for predictions of an earlier process.
	namespace string
	hit       bool
}

// The predictions of an earlier process are stored without their namespaces, but for the number of wrong ones of the
// namespace with most of them.
const formerProcess, formerMostWrong = "", "(most wrong)"

func (b *checkedBindings) add(p checkedPrediction) {
	b.predictions = append(b.predictions, p)
	if len(b.predictions) <= trust.MaxMinBindings {
		return
	}
	of := map[string]int{}
	for _, p := range b.predictions {
		of[p.namespace]++
	}
	oldest := slices.IndexFunc(b.predictions, func(p checkedPrediction) bool { return of[p.namespace] == slices.Max(slices.Collect(maps.Values(of))) })
	b.predictions = slices.Delete(b.predictions, oldest, oldest+1)
}

// latest returns the counts of the latest predictions, as many as the window. A namespace has at most half of them,
// unless the others have fewer than the other half.
func (b *checkedBindings) latest(window int) plan.SchedulerBindings {
	out := plan.SchedulerBindings{Seen: b.seen, Model: b.model}
	of, wrong := map[string]int{}, map[string]int{}
	count := func(p checkedPrediction) {
		switch out.Predicted++; {
		case p.hit:
			out.Hits++
		case p.namespace != formerProcess:
			wrong[p.namespace]++
		}
	}
	var beyond []checkedPrediction
	for _, p := range slices.Backward(b.predictions) {
		if out.Predicted == window {
			break
		}
		if of[p.namespace]++; p.namespace != formerProcess && of[p.namespace] > (window+1)/2 {
			beyond = append(beyond, p)
			continue
		}
		count(p)
	}
	for _, p := range beyond[:min(len(beyond), window-out.Predicted)] {
		count(p)
	}
	if delete(of, formerProcess); len(of) > 1 || of[formerMostWrong] > 0 { // the former one is stored beside others only
		for _, n := range wrong {
			out.MostWrong = max(out.MostWrong, n)
		}
	}
	return out
}

// WithoutChecks calls f while no binding is checked. A check and a plan both need much memory, and WithoutChecks keeps
// them from adding up. It waits for a running check. Bindings that arrive meanwhile are ignored.
func (s *SchedulerTrust) WithoutChecks(f func()) {
	if s != nil {
		s.computing.Lock()
		defer s.computing.Unlock()
	}
	f()
}

// Run checks bindings until ctx ends.
func (s *SchedulerTrust) Run(ctx context.Context) {
	for {
		uid, earlier, ok := s.Bindings.NextBinding(ctx)
		if !ok {
			return
		}
		begun := s.Clock.Now()
		s.checkBinding(uid, earlier)
		if !wait.Sleep(ctx, s.Clock, idleFactor*s.Clock.Since(begun)) {
			return
		}
	}
}

func (s *SchedulerTrust) checkBinding(uid string, earlier []string) {
	if !s.computing.TryLock() {
		return
	}
	defer s.computing.Unlock()
	snapshot, err := s.Snapshot()
	if err != nil {
		s.Log.Debug("a binding could not be checked", "pod", uid, "error", err)
		return
	}
	p := snapshot.PodByUID(uid)
	if p == nil {
		return // the pod is gone already
	}
	name := trust.SchedulerName(p.Object)
	profiles, window := s.Profiles()
	profile := trust.ProfileOf(name, profiles)
	hit, predicted := trust.CheckBinding(snapshot, p.ID, earlier, profile)
	s.countBinding(name, trust.ModelOf(snapshot, profile), p.Object.Namespace, window, hit, predicted)
	s.Log.Debug("checked a binding", "scheduler", name, "pod", p.Object.Namespace+"/"+p.Object.Name,
		"node", p.Object.Spec.NodeName, "predicted", predicted, "hit", hit)
}

// countBinding counts one binding. It forgets the bindings that were predicted with another model, and ignores
// schedulers beyond the first plan.MaxSchedulers.
func (s *SchedulerTrust) countBinding(name, model, namespace string, window int, hit, predicted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.counts[name]
	if b == nil && len(s.counts) == plan.MaxSchedulers {
		return
	}
	if b == nil || b.model != model {
		if s.counts == nil {
			s.counts = map[string]*checkedBindings{}
		}
		b = &checkedBindings{model: model}
		s.counts[name] = b
	}
	b.seen++
	if predicted {
		b.add(checkedPrediction{namespace, hit})
	}
	s.OnCount(name, b.latest(window), hit, predicted)
}

// Restore puts the counts of an earlier process before those of this process, as if its wrong predictions were its last
// ones. Only the first call has an effect. Restore ignores schedulers that this process predicts with another model.
func (s *SchedulerTrust) Restore(stored map[string]plan.SchedulerBindings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restored {
		return
	}
	if s.restored = true; s.counts == nil {
		s.counts = map[string]*checkedBindings{}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		b, own := stored[name], s.counts[name]
		if own == nil && len(s.counts) < plan.MaxSchedulers {
			own = &checkedBindings{model: b.Model}
			s.counts[name] = own
		}
		if own == nil || own.model != b.Model {
			continue
		}
		predicted := min(b.Predicted, trust.MaxMinBindings)
		misses := min(b.Predicted-b.Hits, predicted)
		mostWrong := min(b.MostWrong, misses)
		all := slices.Concat(slices.Repeat([]checkedPrediction{{formerProcess, true}}, predicted-misses),
			slices.Repeat([]checkedPrediction{{formerMostWrong, false}}, mostWrong),
			slices.Repeat([]checkedPrediction{{formerProcess, false}}, misses-mostWrong), own.predictions)
		own.predictions = all[max(0, len(all)-trust.MaxMinBindings):]
		own.seen = max(own.seen, b.Seen, len(own.predictions)) // both processes may have seen the same bindings
	}
}

// Counts returns the counts so far, by schedulerName. Counts covers at most plan.MaxSchedulers
// schedulers: those whose bindings were checked first.
func (s *SchedulerTrust) Counts() map[string]plan.SchedulerBindings {
	out := map[string]plan.SchedulerBindings{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.counts) == 0 {
		return out
	}
	_, window := s.Profiles()
	for name, b := range s.counts {
		out[name] = b.latest(window)
	}
	return out
}
