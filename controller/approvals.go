package controller

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Approvals are saved plans that somebody wants carried out.
type Approvals interface {
	Pending(ctx context.Context) (*approval.Request, error)
	// Take makes sure that a plan is carried out once at most.
	Claim(ctx context.Context, r *approval.Request) error
	Complete(ctx context.Context, r approval.Request, report plan.RunReport) error
}

// approvalPollInterval is how often approved plans are looked for.
const approvalPollInterval = 5 * time.Second

// applyApprovedPlan carries out what was approved, between passes.
func (c *Controller) applyApprovedPlan(ctx context.Context) {
	if c.Approvals == nil || c.Mode != plan.Live {
		return
	}
	r, err := c.Approvals.Pending(ctx)
	if err != nil {
		c.Log.Warn("an approved plan is not carried out", "error", err)
	}
	if r == nil {
		return
	}
	if err := c.Approvals.Claim(ctx, r); err != nil {
		c.Log.Warn("an approved plan is not carried out", "plan", r.Plan.ID, "error", err)
		return
	}
	report, err := c.Apply(ctx, r.Plan, plan.Approval{By: r.ApprovedBy, At: r.ApprovedAt})
	if err != nil {
		c.Log.Error("an approved plan could not be carried out", "plan", r.Plan.ID, "error", err)
	}
	if err := c.Approvals.Complete(ctx, *r, report); err != nil {
		c.Log.Warn("who approved the plan is not told what came of it", "plan", r.Plan.ID, "error", err)
	}
}
