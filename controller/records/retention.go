package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// sweepInterval is the time between two complete looks for plans that are too old or too many.
	sweepInterval = time.Hour
	// sweepTimeout bounds one look. If it ends early, the next pass looks again.
	sweepTimeout = 30 * time.Second
	// maxForeign bounds the plans that no pass made.
	maxForeign = 1000
	// pageSize is the number of plans in one answer of the API server. Anybody who may create plans can make them as
	// large as the API server permits.
	pageSize = 10
	// MaxBytes bounds all plans together: of 64 MiB, etcd is far from full.
	MaxBytes = 64 << 20
)

// Retention says how long plans are kept.
type Retention struct {
	// Keep is the age from which a plan is deleted.
	Keep time.Duration
	// MaxBytes bounds all plans together, as the API server stores them. Plans that no pass made are deleted first, and
	// of the others the oldest.
	MaxBytes int64
}

// kept is a stored plan that may be deleted.
type kept struct {
	name    string
	created time.Time
	bytes   int64
}

// look is a look for plans that are too old or too many.
type look struct {
	Retention
	now          time.Time
	holder       string
	delete       func(name string) error
	end          func(o *v1alpha1.RebalancePlan) error // of a process that died before it evicted a pod
	total        int64
	own, foreign []kept // no pass made the foreign ones, or the process of a dry run died
}

// Sweep deletes plans that are too old or too many, at most once in sweepInterval. Plans that wait stay. A command that
// is no release deletes nothing, and neither does a dry run beside a release that evicts. Plans that no pass made are
// deleted while the others are read. So few are in memory, however many there are, and a look that ends early leaves
// fewer.
func (s *Store) Sweep(ctx context.Context) {
	now := s.Clock.Now()
	if s.Schedule == "" || s.beside.is || s.Keep <= 0 || ctx.Err() != nil || now.Sub(s.swept) < sweepInterval {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	l := look{Retention: s.Retention, now: now, holder: s.Holder, end: s.endOrphan(ctx), delete: func(name string) error {
		err := s.Client.Plans.Delete(ctx, name, metav1.DeleteOptions{})
		if objects.IsMissing(err, "rebalanceplans", name) {
			return nil
		}
		return err
	}}
	var failure error
	err := EachPlan(ctx, s.Client, pageSize, func(o *v1alpha1.RebalancePlan) {
		if failure == nil {
			failure = l.add(o)
		}
	})
	if err = errors.Join(err, failure); err == nil {
		err = l.shrink(&l.own, len(l.own))
	}
	if err != nil {
		s.report(fmt.Errorf("deleting plans that are too old or too many: %w", objects.Explain(err)))
		return
	}
	s.swept, s.full = now, l.total > s.MaxBytes
	if s.full {
		s.Log.Warn("the plans that must not be deleted take too much space: they wait for a decision, for their execution or for "+
			"finalizers; decide about them", "bytes", l.total, "maxBytes", s.MaxBytes)
	}
}

// Full reports whether the plans that must not be deleted took more than MaxBytes at the last look. No new plan may
// wait then.
func (s *Store) Full() bool { return s.full }

// endOrphan returns the function that ends a plan whose process died before it reserved an eviction. The plans of other
// dead processes are written from the reservations, before any plan is deleted.
func (s *Store) endOrphan(ctx context.Context) func(o *v1alpha1.RebalancePlan) error {
	return func(o *v1alpha1.RebalancePlan) error {
		at := metav1.NewTime(s.Clock.Now())
		o.Status.Phase, o.Status.Closed, o.Status.Finished = v1alpha1.PhaseStopped, true, &at
		o.Status.Stopped = &v1alpha1.Reason{Code: string(plan.Interrupted), Message: "the process of this pass (" + o.Status.Holder +
			") ended before it evicted a pod"}
		_, err := s.Client.Plans.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return nil // the next look ends it
		}
		return err
	}
}

// isOpen reports whether a plan waits for a person or for its execution, or has discarded moves that are not proposed
// again yet.
func isOpen(st *v1alpha1.RebalancePlanStatus) bool {
	return st.Phase == v1alpha1.PhaseWaiting || st.Phase == v1alpha1.PhaseApproved || !st.Closed && slices.ContainsFunc(st.Steps,
		func(x v1alpha1.StepStatus) bool { return x.State == v1alpha1.StepDiscarded })
}

// add counts a plan, or deletes it if it is too old, and deletes foreign plans if there are too many.
func (l *look) add(o *v1alpha1.RebalancePlan) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	k := kept{o.Name, o.CreationTimestamp.Time, int64(len(text))}
	if st := &o.Status; st.Phase == v1alpha1.PhaseRunning && o.Spec.Mode == v1alpha1.ModeAutomatic && !st.Foreign && st.Holder != l.holder {
		if err := l.end(o); err != nil {
			return err
		}
	}
	switch foreign := o.Status.Foreign || o.Status.Phase == ""; {
	case o.DeletionTimestamp != nil, o.Status.Phase == v1alpha1.PhaseRunning, !foreign && isOpen(&o.Status):
	case l.now.Sub(k.created) > l.Keep:
		return l.delete(k.name)
	case foreign:
		l.foreign = append(l.foreign, k)
	default:
		l.own = append(l.own, k)
	}
	l.total += k.bytes
	return l.shrink(&l.foreign, maxForeign)
}

// shrink deletes the oldest plans of a list until all plans together are small enough, and the list has at most some.
func (l *look) shrink(list *[]kept, most int) error {
	for len(*list) > 0 && (l.total > l.MaxBytes || len(*list) > most) {
		oldest := 0
		for i, k := range *list {
			if k.created.Before((*list)[oldest].created) {
				oldest = i
			}
		}
		k := (*list)[oldest]
		if err := l.delete(k.name); err != nil {
			return err
		}
		*list, l.total = slices.Delete(*list, oldest, oldest+1), l.total-k.bytes
	}
	return nil
}

// EachPlan calls use with each stored plan. It reads page by page, so that only one page is in memory.
func EachPlan(ctx context.Context, c *objects.Client, pageSize int64, use func(*v1alpha1.RebalancePlan)) error {
	for next := ""; ; {
		page, err := c.Plans.List(ctx, metav1.ListOptions{Limit: pageSize, Continue: next})
		if err != nil {
			return err
		}
		for i := range page.Items {
			use(&page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
