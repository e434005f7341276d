package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/metrics"
)

// A command that makes a single pass waits for the push of its metrics: pushWait after the pass, and pushStopWait after
// SIGTERM.
const (
	pushWait     = 20 * time.Second
	pushStopWait = 5 * time.Second
)

// newPusher returns the Pusher for --push-url, or nil without the flag. The error does not repeat the flag, because it
// may contain a password.
func (f *runFlags) newPusher() (*metrics.Pusher, error) {
	switch {
	case f.pushURL == "":
		return nil, nil
	case !f.once:
		return nil, errors.New("--push-url requires --once; without --once, Prometheus reads /metrics of --bind-address")
	}
	p, err := metrics.NewPusher(f.pushURL, f.namespace, f.strategies, clock.RealClock{})
	if err != nil {
		return nil, fmt.Errorf("--push-url: %w", err)
	}
	return p, nil
}

// pushMetrics sends the metrics of the pass, if --push-url is set. A failure is logged and does not change the result
// of the command: the evictions of the pass have happened.
func (r *runCommand) pushMetrics(ctx context.Context) {
	if r.pusher == nil {
		return
	}
	limit := pushWait
	if ctx.Err() != nil {
		limit = pushStopWait
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := r.pusher.Push(call, r.metrics); err != nil {
		r.log.Warn("the metrics of this pass were not pushed; the pass is not affected", "url", r.pusher.Address(), "error", err)
		return
	}
	r.log.Info("pushed the metrics of this pass", "url", r.pusher.Address())
}
