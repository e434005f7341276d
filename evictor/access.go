package evictor

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel-project/evenkeel/plan"
)

// accessReviews tells admission from a missing permission: both answer an eviction with 403. It asks the API server
// once per namespace, kind of request and wave, one question at a time.
type accessReviews struct {
	api podAPI

	mu    sync.Mutex
	known map[accessQuestion]accessReview
}

type accessQuestion struct {
	namespace string
	how       plan.Removal
}

type accessReview struct {
	allowed bool
	err     error
}

// forget makes the next answers fresh.
func (a *accessReviews) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = map[accessQuestion]accessReview{}
}

// resolve returns the verdict on a move that was answered with 403. If this account may evict or
// delete in the namespace, admission refused it. If it may not, or if the API server does not say
// so, the pass must stop.
func (a *accessReviews) resolve(ctx context.Context, m plan.Move, v Verdict) Verdict {
	switch r := a.review(ctx, accessQuestion{m.Pod.Namespace, m.Removal}); {
	case r.err != nil:
		v.Reason = plan.Reason{Code: plan.PermissionMissing, Message: fmt.Sprintf(
			"the API server refused the eviction, and it is unknown whether a permission is missing: %s; the refusal: %s", r.err, v.refusal)}
	case r.allowed:
		return admissionVerdict(v.refusal)
	}
	return v
}

func (a *accessReviews) review(ctx context.Context, q accessQuestion) accessReview {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, known := a.known[q]
	if !known {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		r.allowed, r.err = a.api.mayRemove(call, q.namespace, q.how)
		a.known[q] = r
	}
	return r
}
