// Package retry repeats reads from the API server that fail with a temporary error. Read never
// repeats a write, because a write without an answer may have succeeded. The function
// retry.OnError of client-go takes no context, so its waits would delay a shutdown.
package retry

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxAttempts is the maximum number of attempts, including the first.
const MaxAttempts = 4

// minBackoff is the delay after the first attempt. Each further delay is twice as long. All
// delays together take 0.7 s.
const minBackoff = 100 * time.Millisecond

// Read calls the function read until it succeeds or fails with a final error, but at most
// MaxAttempts times. Read returns the last error. It stops early if ctx ends.
func Read(ctx context.Context, read func() error) error {
	for try := 1; ; try++ {
		if err := read(); err == nil || IsFinal(err) || try == MaxAttempts || !Sleep(ctx, try) {
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

// Sleep waits after attempt number try, counted from 1. It returns false if ctx has ended.
func Sleep(ctx context.Context, try int) bool {
	select {
	case <-ctx.Done():
	case <-time.After(minBackoff << (try - 1)):
	}
	return ctx.Err() == nil
}
