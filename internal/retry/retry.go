// Package retry asks the API server again for what it could not answer at the
// moment.
//
// It decides which errors another try can change, and how often and how long it is
// tried. It never repeats a write: of a write without an answer nobody knows what
// became.
package retry

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxAttempts is how often a question is asked at most.
const MaxAttempts = 4

// minBackoff is the pause after the first try; each further one is twice as long.
// All of them together take 0.7 s.
const minBackoff = 100 * time.Millisecond

// Read calls ask, which only reads, until it brings no error or one that is final,
// at most Tries times, and returns the last error. It ends early when ctx does.
// Informers and leader election ask again by themselves and need none of this.
func Read(ctx context.Context, ask func() error) error {
	for try := 1; ; try++ {
		if err := ask(); err == nil || IsFinal(err) || try == MaxAttempts || !Sleep(ctx, try) {
			return err
		}
	}
}

// IsFinal tells answers that another try does not change: the server has understood
// the question and says no.
func IsFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err)
}

// Sleep waits between the try of this number, from 1, and the next. False: ctx has
// ended.
func Sleep(ctx context.Context, try int) bool {
	t := time.NewTimer(minBackoff << (try - 1))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
