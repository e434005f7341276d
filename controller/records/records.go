// Package records keeps the objects of a release up to date: the plan of each pass with its outcomes, the state of the
// release, and the history by the hour.
//
// The package decides when an object is written, and how long plans are kept. It never decides what was evicted: only
// reservations do, and a status is made from them.
package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

const (
	// progressInterval is the least time between two statuses of a plan that is executed, and the most time that each
	// write takes.
	progressInterval = 10 * time.Second
	// attempts bounds how often a write is tried again after another client changed the object.
	attempts = 3
)

// Store writes the objects of one release. Only the process that holds the Lease may use it, one call at a time.
type Store struct {
	Client *objects.Client
	Clock  clock.PassiveClock
	Log    *slog.Logger
	// Version is that of the program, Holder identifies this process, and Schedule is that of record.Pass.
	Version, Holder, Schedule string
	// EvictorLeads reports whether a process of the release that evicts holds its Lease. A dry run asks; nil means no.
	EvictorLeads func(ctx context.Context) (bool, error)
	Retention

	release *v1alpha1.Rebalancer // as this process saw it last
	history *v1alpha1.RebalanceHistory
	open    []*v1alpha1.RebalancePlan // of the current pass
	written time.Time                 // when the last status of a plan that is executed was made
	// endWrite ends the write that Progress began, and writing waits for its end.
	endWrite context.CancelFunc
	writing  sync.WaitGroup
	swept    time.Time
	full     bool // see Full
	quiet    bool // a failure was logged, and nothing succeeded since
	beside   struct {
		run  string // the pass for which is says whether it is a dry run beside a release that evicts
		is   bool
		said bool
	}
}

// Begin stores a plan of the pass, and says in its status that this process executes it. owner is the UID of the
// Rebalancer. The plan must not be executed if Begin returns an error.
func (s *Store) Begin(ctx context.Context, p *plan.Plan, r *plan.RunReport, mode v1alpha1.Mode, owner string) (name string, err error) {
	if s.besideEvictor(ctx, r) {
		return "", nil
	}
	s.endProgress()
	name = record.Name(r.Started, r.RunID, mode)
	if len(s.open) > 0 {
		name += record.ReplanSuffix
	}
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners(owner)}, Spec: record.Spec(p, mode)}
	o.APIVersion, o.Kind = v1alpha1.GroupVersion.String(), "RebalancePlan"
	created, err := s.Client.Plans.Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // the answer to an earlier request was lost
		created, err = s.Client.Plans.Get(ctx, name, metav1.GetOptions{})
	}
	switch {
	case err == nil && !equality.Semantic.DeepEqual(created.Spec, o.Spec):
		err = errors.Join(objects.ErrOldDefinition, s.Client.Plans.Delete(ctx, name, metav1.DeleteOptions{}))
	case err == nil && r.Mode == plan.Live:
		var claimed *v1alpha1.RebalancePlan
		if claimed, err = s.writePlan(ctx, created, r, s.Holder); err != nil {
			s.open = append(s.open, created) // its status may have been written, so the end of the pass writes it again
			break
		}
		created = claimed
	}
	if err != nil {
		return "", fmt.Errorf("storing the plan as RebalancePlan %s/%s: %w", s.Client.Namespace, name, objects.Explain(err))
	}
	s.open, s.written = append(s.open, created), s.Clock.Now()
	return name, nil
}

// besideEvictor reports whether a pass is a dry run beside a release that evicts, such as one on a person's machine. It
// must write nothing: the objects say what the release is, did and will do. Between the jobs of a CronJob, no process
// holds the Lease, so the release goes on evicting until a pass is due.
func (s *Store) besideEvictor(ctx context.Context, r *plan.RunReport) bool {
	if s.beside.run == r.RunID {
		return s.beside.is
	}
	s.beside.run, s.beside.is = r.RunID, false
	if r.Mode == plan.Live {
		return false
	}
	o, err := s.readRelease(ctx)
	if err != nil || o.Status.Mode == record.DryRunMode || o.Status.LastPass == nil {
		return false
	}
	if s.EvictorLeads != nil {
		s.beside.is, err = s.EvictorLeads(ctx)
	}
	s.beside.is = s.beside.is || err != nil || record.AwaitsJob(&o.Status, s.Clock.Now())
	if s.beside.is && !s.beside.said {
		s.beside.said = true
		s.Log.Info("this dry run writes no objects, because the release in this namespace evicts", "namespace", s.Client.Namespace)
	}
	return s.beside.is
}

// Adopt makes a stored plan that this process has claimed the plan of the pass.
func (s *Store) Adopt(o *v1alpha1.RebalancePlan) {
	s.open, s.written = []*v1alpha1.RebalancePlan{o}, s.Clock.Now()
}

func owners(uid string) []metav1.OwnerReference {
	if uid == "" {
		return nil // a dry run may not know the Rebalancer
	}
	return []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Rebalancer", Name: objects.ReleaseName, UID: types.UID(uid)}}
}

// Progress begins to write what the pass has done so far, at most once in progressInterval. It does not wait for the
// API server, which takes a second for a plan with hundreds of moves, and a failure has no effect on the pass. After
// the last move of a plan, it writes nothing, because Finish will.
func (s *Store) Progress(ctx context.Context, r *plan.RunReport) {
	moves := len(r.Plan.Moves)
	if r.Replan != nil {
		moves += len(r.Replan.Moves)
	}
	if ctx.Err() != nil || s.Clock.Since(s.written) < progressInterval || len(r.Outcomes) >= moves {
		return
	}
	s.endProgress()
	s.written = s.Clock.Now()
	soFar := *r
	soFar.Outcomes = slices.Clone(r.Outcomes)
	call, end := context.WithTimeout(ctx, progressInterval)
	s.endWrite = end
	s.writing.Go(func() {
		if err := s.writePlans(call, &soFar); !errors.Is(call.Err(), context.Canceled) {
			s.report(err)
		}
		end()
	})
}

// endProgress ends the write that Progress began. If the API server executes it all the same, the next write finds a
// conflict, and reads the object again.
func (s *Store) endProgress() {
	if s.endWrite != nil {
		s.endWrite()
		s.writing.Wait()
		s.endWrite = nil
	}
}

// Finish writes the end of a pass: its plans, the release, and the history. Failures are logged; the next pass writes
// the release and the history again. If Finish returns an error, the plans do not say what happened: Recovered must
// write it later, and then the history, too.
func (s *Store) Finish(ctx context.Context, p record.Pass) error {
	if s.besideEvictor(ctx, p.Report) {
		return nil
	}
	s.endProgress()
	if len(s.open) > 0 {
		p.Plan = s.open[0].Name
	}
	p.Version, p.Holder, p.Schedule = s.Version, s.Holder, s.Schedule
	failure := s.writePlans(ctx, p.Report)
	others := s.writeRelease(ctx, p)
	if failure == nil {
		others = errors.Join(others, s.writeHistory(ctx, p.Report, p.State.Rebalancer))
	}
	s.report(errors.Join(failure, others))
	s.open = nil
	return failure
}

// report logs the first of a series of failures.
func (s *Store) report(err error) {
	if err != nil && !s.quiet {
		s.Log.Warn("the objects of this release are not up to date; evictions are recorded in the state all the same", "error", err)
	}
	s.quiet = err != nil
}

func (s *Store) writePlans(ctx context.Context, r *plan.RunReport) (err error) {
	for i, o := range s.open {
		written, failure := s.writePlan(ctx, o, r, s.Holder)
		if failure == nil {
			s.open[i] = written
		}
		err = errors.Join(err, failure)
	}
	return err
}

func (s *Store) writePlan(ctx context.Context, o *v1alpha1.RebalancePlan, r *plan.RunReport, holder string) (*v1alpha1.RebalancePlan, error) {
	return retryConflict(o, func() (*v1alpha1.RebalancePlan, error) { return s.Client.Plans.Get(ctx, o.Name, metav1.GetOptions{}) },
		func(o *v1alpha1.RebalancePlan) (*v1alpha1.RebalancePlan, error) {
			o.Status = record.Status(o.Status, &o.Spec, r, holder)
			return s.Client.Plans.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		})
}

// retryConflict calls write with the object, and again with the current one after another client has changed it.
func retryConflict[T any](o *T, read func() (*T, error), write func(*T) (*T, error)) (*T, error) {
	written, err := write(v1alpha1.DeepCopy(o))
	for range attempts {
		if !apierrors.IsConflict(err) {
			break
		}
		var now *T
		if now, err = read(); err == nil {
			written, err = write(now)
		}
	}
	return written, err
}

// Recovered writes the outcomes of a pass whose process ended, as the reservations tell them, to its plans and to the
// history. name is that of its first plan. A plan that does not exist any more is no error.
func (s *Store) Recovered(ctx context.Context, name string, r *plan.RunReport, holder, owner string) error {
	if name == "" {
		return nil
	}
	for _, name := range []string{name, name + record.ReplanSuffix} {
		o, err := s.Client.Plans.Get(ctx, name, metav1.GetOptions{})
		if objects.IsMissing(err, "rebalanceplans", name) {
			continue
		}
		if err == nil {
			_, err = s.writePlan(ctx, o, r, holder)
		}
		if err != nil {
			return objects.Explain(err)
		}
	}
	return s.writeHistory(ctx, r, owner)
}

func (s *Store) readRelease(ctx context.Context) (*v1alpha1.Rebalancer, error) {
	return s.Client.Rebalancers.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
}

func (s *Store) writeRelease(ctx context.Context, p record.Pass) (err error) {
	o := s.release
	if o == nil || string(o.UID) != p.State.Rebalancer {
		o, err = s.readRelease(ctx)
	}
	if err == nil {
		o, err = retryConflict(o, func() (*v1alpha1.Rebalancer, error) { return s.readRelease(ctx) }, func(o *v1alpha1.Rebalancer) (*v1alpha1.Rebalancer, error) {
			p.State.Pause, o.Status.ObservedGeneration = state.ActivePause(o, s.Clock.Now()), o.Generation
			o.Status = record.Rebalancer(o.Status, p)
			return s.Client.Rebalancers.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		})
	}
	if s.release = o; err != nil {
		s.release, err = nil, s.statusError(err)
	}
	return err
}

func (s *Store) statusError(err error) error {
	return fmt.Errorf("writing the status of Rebalancer %s/%s: %w", s.Client.Namespace, objects.ReleaseName, objects.Explain(err))
}

// WritePause writes to the status of the release whether evictions are paused. Unlike the other methods, it may be
// called during a pass. If another client changes the Rebalancer meanwhile, it returns an error, and writes nothing.
func (s *Store) WritePause(ctx context.Context) error {
	o, err := s.readRelease(ctx)
	if err == nil {
		now := s.Clock.Now()
		before := o.Status
		if o.Status = record.WithPause(before, state.ActivePause(o, now), o.Generation, now); equality.Semantic.DeepEqual(before, o.Status) {
			return nil
		}
		_, err = s.Client.Rebalancers.UpdateStatus(ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		return s.statusError(err)
	}
	return nil
}

func (s *Store) writeHistory(ctx context.Context, r *plan.RunReport, owner string) (err error) {
	read := func() (*v1alpha1.RebalanceHistory, error) {
		return s.Client.Histories.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
	}
	o := s.history
	if o == nil {
		if o, err = read(); objects.IsMissing(err, "rebalancehistories", objects.ReleaseName) {
			o, err = s.Client.Histories.Create(ctx, &v1alpha1.RebalanceHistory{
				TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RebalanceHistory"},
				ObjectMeta: metav1.ObjectMeta{Name: objects.ReleaseName, OwnerReferences: owners(owner)}}, metav1.CreateOptions{})
		}
	}
	if err == nil {
		o, err = retryConflict(o, read, func(o *v1alpha1.RebalanceHistory) (*v1alpha1.RebalanceHistory, error) {
			o.Hours = record.AddPass(o.Hours, r)
			return s.Client.Histories.Update(ctx, o, metav1.UpdateOptions{})
		})
	}
	if err != nil {
		s.history = nil
		return fmt.Errorf("writing RebalanceHistory %s/%s: %w", s.Client.Namespace, objects.ReleaseName, objects.Explain(err))
	}
	s.history = o
	return nil
}
