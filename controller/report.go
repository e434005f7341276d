package controller

import (
	"context"
	"errors"

	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// codedError adds the reason code for the report to an error.
type codedError struct {
	code plan.Code
	error
}

// Unwrap returns the cause.
func (e codedError) Unwrap() error { return e.error }

// reportFailure publishes the report of a pass that could not start. Every pass has a report. The
// report of an approved plan contains the plan, with every move dropped.
func (p *pass) reportFailure(ctx context.Context, err error) {
	r := &p.report
	r.Stopped = failureReason(ctx, err)
	if r.Plan.ID == "" {
		at := r.Started
		if stale := (*observe.StaleError)(nil); errors.As(err, &stale) {
			at = stale.Until.UTC()
		}
		r.Plan = plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: at, Expires: at}
		r.Plan.ID = plan.ContentID(r.Plan)
	}
	p.dropRemaining(r.Plan, r.Stopped)
	r.Finished = p.Clock.Now().UTC()
	p.Recorder.RecordPass(*r)
	p.OnReport(*r)
}

func failureReason(ctx context.Context, err error) *plan.Reason {
	var coded codedError
	switch {
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop before it made a plan"}
	case errors.As(err, &coded):
		return &plan.Reason{Code: coded.code, Message: err.Error()}
	}
	return snapshotFailure(err, "")
}

// snapshotFailure returns the reason to report for a failed snapshot. The message of the reason is
// doing followed by the error.
func snapshotFailure(err error, doing string) *plan.Reason {
	code := plan.APIError
	if stale := (*observe.StaleError)(nil); errors.As(err, &stale) {
		code = plan.ClusterViewStale
	}
	return &plan.Reason{Code: code, Message: doing + err.Error()}
}
