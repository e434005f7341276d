package controller

import (
	"errors"

	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// refuse reports a pass that may not plan, because the cluster has not been seen
// for too long. Other errors leave no report: there was no pass.
func (c *Controller) refuse(report *plan.RunReport, err error) {
	var stale *observe.Stale
	if !errors.As(err, &stale) {
		return
	}
	at := stale.Until.UTC()
	report.Plan = plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: at, Expires: at}
	report.Plan.ID = plan.ContentID(report.Plan)
	report.Stopped = unseen(err, "")
	report.Finished = c.Clock.Now().UTC()
	c.Recorder.Pass(*report)
	c.OnReport(*report)
}

// unseen is the reason for not going on when the cluster cannot be seen.
func unseen(err error, doing string) *plan.Reason {
	message := doing + err.Error()
	var stale *observe.Stale
	if errors.As(err, &stale) {
		return &plan.Reason{Code: plan.ClusterViewStale, Message: message}
	}
	return &plan.Reason{Code: plan.APIError, Message: message}
}
