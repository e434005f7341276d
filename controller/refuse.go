package controller

import (
	"context"
	"errors"

	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// blocked is an error with the code of the reason for not acting.
type blocked struct {
	code plan.Code
	error
}

// Unwrap gives the cause.
func (b blocked) Unwrap() error { return b.error }

// refuse reports a pass that could not begin: every pass leaves a report. A plan
// that was approved stands in it, with its moves given up.
func (c *Controller) refuse(ctx context.Context, report *plan.RunReport, err error) {
	report.Stopped = why(ctx, err)
	if report.Plan.ID == "" {
		at := report.Started
		if stale := (*observe.StaleError)(nil); errors.As(err, &stale) {
			at = stale.Until.UTC()
		}
		report.Plan = plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: at, Expires: at}
		report.Plan.ID = plan.ContentID(report.Plan)
	}
	c.giveUp(report, report.Stopped)
	report.Finished = c.Clock.Now().UTC()
	c.Recorder.Pass(*report)
	c.OnReport(*report)
}

// why is the reason that an error comes to.
func why(ctx context.Context, err error) *plan.Reason {
	var b blocked
	switch {
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "told to stop before anything was planned"}
	case errors.As(err, &b):
		return &plan.Reason{Code: b.code, Message: err.Error()}
	}
	return unseen(err, "")
}

// unseen is the reason for not going on when the cluster cannot be seen.
func unseen(err error, doing string) *plan.Reason {
	message := doing + err.Error()
	var stale *observe.StaleError
	if errors.As(err, &stale) {
		return &plan.Reason{Code: plan.ClusterViewStale, Message: message}
	}
	return &plan.Reason{Code: plan.APIError, Message: message}
}
