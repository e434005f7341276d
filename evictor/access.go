package evictor

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel-project/evenkeel/plan"
)

// accessReviews tells admission from a missing permission: both answer an eviction with 403. It asks the API server
// once per namespace and wave, one question at a time.
type accessReviews struct {
	api podAPI

	mu    sync.Mutex
	known map[string]accessReview // by namespace
}

type accessReview struct {
	allowed bool
	err     error
}

// forget makes the next answers fresh.
func (a *accessReviews) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = map[string]accessReview{}
}

// resolve returns the verdict on an eviction that was answered with 403. If this account may evict in the namespace,
// admission refused the eviction. If it may not, or if the API server does not say so, the pass must stop.
func (a *accessReviews) resolve(ctx context.Context, namespace string, v Verdict) Verdict {
	switch r := a.review(ctx, namespace); {
	case r.err != nil:
		v.Reason = plan.Reason{Code: plan.PermissionMissing, Message: fmt.Sprintf(
			"the API server refused the eviction, and it is unknown whether a permission is missing: %s; the refusal: %s", r.err, v.refusal)}
	case r.allowed:
		return admissionVerdict(v.refusal)
	}
	return v
}

func (a *accessReviews) review(ctx context.Context, namespace string) accessReview {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, known := a.known[namespace]
	if !known {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		r.allowed, r.err = a.api.mayEvict(call, namespace)
		a.known[namespace] = r
	}
	return r
}
