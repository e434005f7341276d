// Package retry repeats reads from the API server that fail with a temporary error.
//
// It decides which errors are temporary, how often to retry, and how long to wait. It never
// repeats a write, because a write without an answer may have succeeded.
//
// It exists because retry.OnError of client-go takes no context: its waits would delay a
// shutdown.
package retry

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxAttempts is the maximum number of attempts, including the first.
const MaxAttempts = 4

// minBackoff is the wait after the first attempt. Each further wait is twice as long. All
// waits together take 0.7 s.
const minBackoff = 100 * time.Millisecond

// Read calls ask until it succeeds, fails with a final error, or was called MaxAttempts times.
// It returns the last error. If ctx ends, Read stops early. The function ask must not write.
// Informers and leader election retry on their own and do not use Read.
func Read(ctx context.Context, ask func() error) error {
	for try := 1; ; try++ {
		if err := ask(); err == nil || IsFinal(err) || try == MaxAttempts || !Sleep(ctx, try) {
			return err
		}
	}
}

// IsFinal reports whether another attempt cannot succeed, because the server understood the
// request and rejected it.
func IsFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err)
}

// Sleep waits after attempt number try, which counts from 1. It returns false if ctx ended.
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
