package controller

import (
	"context"
	"errors"

	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// codedError is an error with the code of the reason for not acting.
type codedError struct {
	code plan.Code
	error
}

// Unwrap gives the cause.
func (b codedError) Unwrap() error { return b.error }

// reportFailure reports a pass that could not begin: every pass leaves a report. A plan
// that was approved stands in it, with its moves given up.
func (c *Controller) reportFailure(ctx context.Context, report *plan.RunReport, err error) {
	report.Stopped = failureReason(ctx, err)
	if report.Plan.ID == "" {
		at := report.Started
		if stale := (*observe.StaleError)(nil); errors.As(err, &stale) {
			at = stale.Until.UTC()
		}
		report.Plan = plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: at, Expires: at}
		report.Plan.ID = plan.ContentID(report.Plan)
	}
	c.dropRemaining(report, report.Stopped)
	report.Finished = c.Clock.Now().UTC()
	c.Recorder.RecordPass(*report)
	c.OnReport(*report)
}

// failureReason is the reason that an error comes to.
func failureReason(ctx context.Context, err error) *plan.Reason {
	var b codedError
	switch {
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "told to stop before anything was planned"}
	case errors.As(err, &b):
		return &plan.Reason{Code: b.code, Message: err.Error()}
	}
	return snapshotFailure(err, "")
}

// snapshotFailure is the reason for not going on when the cluster cannot be seen.
func snapshotFailure(err error, doing string) *plan.Reason {
	message := doing + err.Error()
	var stale *observe.StaleError
	if errors.As(err, &stale) {
		return &plan.Reason{Code: plan.ClusterViewStale, Message: message}
	}
	return &plan.Reason{Code: plan.APIError, Message: message}
}
