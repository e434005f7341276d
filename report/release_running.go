package report

import (
	"cmp"
	"fmt"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// toExecute returns the number of steps that a plan executes: all, or those that a person approved.
func toExecute(o *v1alpha1.RebalancePlan) int {
	approved := 0
	for i := range o.Status.Steps {
		if x := &o.Status.Steps[i]; x.DecidedAt != nil && x.State != v1alpha1.StepDiscarded && x.State != v1alpha1.StepReplaced {
			approved++
		}
	}
	return cmp.Or(approved, int(o.Spec.MoveCount))
}

// running says that a pass evicts now.
func (r *Release) running() *finding {
	if r.Running == nil {
		return nil
	}
	s := &r.Running.Status
	f := &finding{head: "a pass runs", what: fmt.Sprintf("A pass moves pods now: it began %s, and has evicted %d of %s (plan %s).", r.ago(timeOf(s.Started)), s.Evicted,
		plural.Count(toExecute(r.Running), "pod"), escape(r.Running.Name))}
	if r.pause() == nil {
		f.todo = []string{nothingToDo + " To stop further evictions:", "evenkeel pause"}
	}
	return f
}
