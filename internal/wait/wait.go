// Package wait waits on a clock that tests can replace.
package wait

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Sleep waits for d. It returns false if ctx ends first.
func Sleep(ctx context.Context, c clock.WithTicker, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C():
		return ctx.Err() == nil
	}
}
