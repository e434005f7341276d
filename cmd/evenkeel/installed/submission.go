package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// pollInterval is the time between two looks for the outcomes of approved steps.
const pollInterval = time.Second

// LeaseReader reads what a Lease says about its holder.
type LeaseReader interface {
	Status(ctx context.Context) (leader.Status, error)
}

// Submission is the approved steps of a plan.
type Submission struct {
	Plans *waiting.Store
	Lease LeaseReader
	// Namespace is that of the Lease.
	Namespace string
	// Plan is the name of the plan, Steps are the approved steps, and Generation is that of the plan with the approval.
	Plan       string
	Steps      []int
	Generation int64
	// By is the person who approved.
	By string
	// NeedsHolder makes Await end if no process holds the Lease.
	NeedsHolder bool
	// NotDone begins the error if the approval was withdrawn, such as: nothing was evicted.
	NotDone string
	// Late returns the error if the steps do not end in time.
	Late func() error
}

// Await waits for the outcomes of the steps until ctx ends, and returns the report of the steps. It withdraws the
// approval if the process that holds the Lease has a new configuration with which it executes no approved plans, unless
// a process executes the plan already. The report is nil without an error if NeedsHolder is set, no process holds the
// Lease any more, and none executes the plan. Await returns an error if the plan ended otherwise, or if somebody has
// changed the decision.
func (s *Submission) Await(ctx context.Context) (*plan.RunReport, error) {
	every := time.NewTicker(pollInterval)
	defer every.Stop()
	var last error
	for {
		select {
		case <-ctx.Done():
			return nil, errors.Join(s.Late(), last)
		case <-every.C:
			var o *v1alpha1.RebalancePlan
			if o, last = s.Plans.Get(ctx, s.Plan); last != nil {
				continue
			}
			if s.isDone(o) {
				r := record.ReportOf(o, s.Steps)
				if r.Stopped == nil && len(r.Outcomes) == 0 {
					return nil, fmt.Errorf("%s: the steps are not approved any more; plan %s has the phase %s: %s", s.NotDone, s.Plan, o.Status.Phase,
						cmp.Or(o.Status.Message, "somebody has changed the decision"))
				}
				return &r, nil
			}
			status, err := s.Lease.Status(ctx)
			if err != nil || o.Status.Phase == v1alpha1.PhaseRunning {
				continue
			}
			if off := ApprovalsOff(status, s.Namespace); off != nil && s.withdraw(ctx) {
				return nil, fmt.Errorf("%s: %w; the approval was withdrawn", s.NotDone, off)
			}
			if s.NeedsHolder && status.Holder == "" {
				return nil, nil
			}
		}
	}
}

// isDone reports whether a process has read the approval, none executes the plan, and none of the steps waits.
func (s *Submission) isDone(o *v1alpha1.RebalancePlan) bool {
	return o.Status.Closed || o.Status.ObservedGeneration >= s.Generation && o.Status.Phase != v1alpha1.PhaseRunning &&
		!slices.ContainsFunc(o.Status.Steps, func(x v1alpha1.StepStatus) bool {
			return slices.Contains(s.Steps, int(x.Step)) && x.State == v1alpha1.StepApproved
		})
}

// withdraw reports whether the steps are not approved any more.
func (s *Submission) withdraw(ctx context.Context) bool {
	var steps []waiting.Range
	for _, step := range s.Steps {
		steps = append(steps, waiting.Range{First: step, Last: step})
	}
	_, err := s.Plans.Decide(ctx, s.Plan, waiting.ToUndo, waiting.StepSelection{Steps: steps}, s.By, time.Now())
	return err == nil
}

// Paused returns an error if evictions are paused, so that approved steps would be dropped. A failed request, such as
// for lack of permission, says that they are not: the process that executes the steps asks again.
func Paused(ctx context.Context, kinds *objects.Client) error {
	call, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	p, err := state.NewPauseStore(kinds).Read(call)
	if err != nil || p == nil {
		return nil
	}
	return fmt.Errorf("%s; approved steps would be dropped (run `evenkeel resume` first, or wait for the end of the pause)",
		terminal.Escape(p.Block().Reason.Message))
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
