package records

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
)

const (
	// sweepInterval is the time between two looks for plans that are too old or too many.
	sweepInterval = time.Hour
	// sweepTimeout bounds one look.
	sweepTimeout = 30 * time.Second
	// maxDeleted bounds the plans that one look deletes, so that a pass never waits for long.
	maxDeleted = 200
	// pageSize is the number of plans in one answer of the API server. Anybody who may create plans can make them as
	// large as the API server permits.
	pageSize = 10
)

// Retention says how long plans are kept.
type Retention struct {
	// Keep is the age from which a plan is deleted.
	Keep time.Duration
	// MaxBytes bounds all plans together, as the API server stores them. The oldest are deleted first.
	MaxBytes int64
}

// kept is a stored plan that may be deleted.
type kept struct {
	name    string
	created time.Time
	bytes   int64
	waits   bool // for a person, for its execution, or for finalizers
}

// Sweep deletes plans that are too old or too many, at most once in sweepInterval. Plans that wait stay. A command that
// is no release deletes nothing.
func (s *Store) Sweep(ctx context.Context) {
	now := s.Clock.Now()
	if s.Schedule == "" || s.Keep <= 0 || ctx.Err() != nil || now.Sub(s.swept) < sweepInterval {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	s.swept = now
	all, err := s.list(ctx)
	if err != nil {
		s.report(err)
		return
	}
	slices.SortFunc(all, func(a, b kept) int { return a.created.Compare(b.created) })
	var total int64
	for _, o := range all {
		total += o.bytes
	}
	deleted := 0
	for _, o := range all {
		old := now.Sub(o.created) > s.Keep
		if o.waits || deleted == maxDeleted || !old && total <= s.MaxBytes {
			continue
		}
		err := s.Client.Plans.Delete(ctx, o.name, metav1.DeleteOptions{})
		if err != nil && !objects.IsMissing(err, "rebalanceplans", o.name) {
			s.report(err)
			return
		}
		deleted, total = deleted+1, total-o.bytes
	}
}

// list returns all plans with their sizes.
func (s *Store) list(ctx context.Context) (all []kept, err error) {
	var failure error
	err = EachPlan(ctx, s.Client, pageSize, func(o *v1alpha1.RebalancePlan) {
		text, err := json.Marshal(o)
		failure = errors.Join(failure, err)
		phase := o.Status.Phase
		all = append(all, kept{name: o.Name, created: o.CreationTimestamp.Time, bytes: int64(len(text)),
			waits: phase == v1alpha1.PhaseWaiting || phase == v1alpha1.PhaseApproved || o.DeletionTimestamp != nil})
	})
	return all, errors.Join(err, failure)
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
