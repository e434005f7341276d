package waiting

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Request is the approved steps of a plan, to be executed.
type Request struct {
	// Plan has only the approved steps, and Name is that of the object.
	Plan plan.Plan
	Name string
	// ApprovedBy names the persons who approved, and ApprovedAt is when the leader read the first approval.
	ApprovedBy string
	ApprovedAt time.Time
	// Attempts is the number of processes that claimed these steps, and Holder is the last one of them.
	Attempts int
	Holder   string

	of *Plan
}

// Object returns the stored plan.
func (r *Request) Object() *v1alpha1.RebalancePlan { return r.of.object }

// Requests returns the approved steps, plan by plan, the oldest plan first. If Attempts is not 0, an earlier process
// claimed the steps and did not write their outcomes.
func (p Plans) Requests() (out []Request) {
	for i := range p.Waiting {
		w := &p.Waiting[i]
		if w.count(Approved) == 0 && !w.isRunning() {
			continue
		}
		r := Request{Name: w.Name, of: w}
		var steps []int
		var by []string
		for _, d := range w.Decisions {
			if d.State != Approved {
				continue
			}
			if steps = append(steps, d.Step); !slices.Contains(by, d.By) {
				by = append(by, d.By)
			}
			if r.ApprovedAt.IsZero() || d.At.Before(r.ApprovedAt) {
				r.ApprovedAt = d.At
			}
		}
		r.Plan, r.ApprovedBy = w.part(steps), strings.Join(by, ", ")
		if st := &w.object.Status; w.isRunning() {
			r.Attempts, r.Holder = max(1, int(st.Attempts)), st.Holder
		}
		out = append(out, r)
	}
	return out
}

// Claim records that the process holder executes the steps, so that no other process executes them at the same time.
// Claim increments r.Attempts. It fails if somebody has changed the plan since it was read.
func (s *Store) Claim(ctx context.Context, r *Request, holder string) error {
	o := v1alpha1.DeepCopy(r.of.object)
	now := metav1.Now()
	o.Status.Phase, o.Status.Holder, o.Status.Attempts = v1alpha1.PhaseRunning, holder, int32(r.Attempts+1)
	o.Status.Started, o.Status.Finished = &now, nil
	if err := s.writeStatus(ctx, r.of, o); err != nil {
		return err
	}
	r.Holder, r.Attempts = holder, r.Attempts+1
	return nil
}

// Interrupt drops the approved steps of a request that no further process may execute.
func (s *Store) Interrupt(ctx context.Context, r *Request, why string) error {
	o := v1alpha1.DeepCopy(r.of.object)
	st := &o.Status
	for i := range st.Steps {
		switch x := &st.Steps[i]; {
		case x.State != v1alpha1.StepApproved:
		case x.Reason != nil && x.Reason.Code == string(plan.OutcomeUnknown): // a process that ended may have evicted the pod
			x.State = v1alpha1.StepUnknown
		default:
			x.State, x.Reason = v1alpha1.StepDropped, &v1alpha1.Reason{Code: string(plan.Interrupted), Message: why}
		}
	}
	now := metav1.Now()
	st.Phase, st.Finished = v1alpha1.PhaseWaiting, &now
	if len(st.Steps) >= len(r.of.Moves) {
		st.Phase = v1alpha1.PhaseStopped
	}
	st.Stopped = &v1alpha1.Reason{Code: string(plan.Interrupted), Message: why}
	return s.writeStatus(ctx, r.of, o)
}
