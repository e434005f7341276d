package installed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/plan"
)

// pollInterval is the time between two looks for the report.
const pollInterval = time.Second

// LeaseReader reads what a Lease says about its holder.
type LeaseReader interface {
	Status(ctx context.Context) (leader.Status, error)
}

// Submission is a plan that was submitted.
type Submission struct {
	Box   *approval.Store
	Lease LeaseReader
	// Namespace is that of the Lease.
	Namespace string
	// PlanID is the ID of the plan.
	PlanID string
	// NeedsHolder makes Await withdraw the plan if no process holds the Lease.
	NeedsHolder bool
	// NotDone begins the error if the plan was withdrawn, such as: nothing was evicted.
	NotDone string
	// Late returns the error if no report arrives in time.
	Late func() error
}

// Await waits for the report of the plan until ctx ends. It withdraws the plan if the process that holds the Lease has
// a new configuration with which it executes no approved plans, unless that process has claimed the plan before. The
// report is nil without an error if no process holds the Lease any more, and the plan was withdrawn.
func (s *Submission) Await(ctx context.Context) (*plan.RunReport, error) {
	every := time.NewTicker(pollInterval)
	defer every.Stop()
	var last error
	for {
		select {
		case <-ctx.Done():
			return nil, errors.Join(s.Late(), last)
		case <-every.C:
			var r *plan.RunReport
			if r, last = s.Box.Report(ctx, s.PlanID); r != nil {
				return r, nil
			}
			last = connection.ExplainForbidden("get configmaps", last)
			status, err := s.Lease.Status(ctx)
			if err != nil {
				continue
			}
			if off := ApprovalsOff(status, s.Namespace); off != nil && s.withdraw(ctx) {
				return nil, fmt.Errorf("%s: %w; the approval was withdrawn", s.NotDone, off)
			}
			if s.NeedsHolder && status.Holder == "" && s.withdraw(ctx) {
				return nil, nil
			}
		}
	}
}

// withdraw reports whether no process executes the plan any more.
func (s *Submission) withdraw(ctx context.Context) bool {
	back, err := s.Box.Withdraw(ctx, s.PlanID)
	return err == nil && back
}

// ApprovalsOff returns an error if a process holds the Lease that executes no approved plans.
func ApprovalsOff(s leader.Status, namespace string) error {
	if s.Holder == "" || !s.ApprovalsOff {
		return nil
	}
	return fmt.Errorf("%s holds the Lease in namespace %s with approvals.enabled: false, so it executes no approved plan", s.Holder, namespace)
}

// Incomplete returns an error if something stopped the plan, or if no move was executed. An eviction without an
// answer from the API server counts as executed, because it may have succeeded.
func Incomplete(r plan.RunReport) error {
	evicted := slices.ContainsFunc(r.Outcomes,
		func(o plan.Outcome) bool {
			return o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome || o.Outcome == plan.InProgress
		})
	switch {
	case r.Stopped == nil && !evicted && len(r.Outcomes) > 0:
		o := r.Outcomes[0]
		return fmt.Errorf("no move of the plan was executed: step %d, pod %s: %s (%s); read the report, or make a new plan", o.Step, o.Pod,
			o.Reason.Message, o.Reason.Code)
	case r.Stopped == nil:
		return nil
	case r.Stopped.Code == plan.PlanRefused:
		return fmt.Errorf("the plan was refused: %s (%s)", r.Stopped.Message, r.Stopped.Code)
	}
	return fmt.Errorf("the plan stopped early: %s: %s", r.Stopped.Code, r.Stopped.Message)
}
