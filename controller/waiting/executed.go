package waiting

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Execute returns the plans with the approved steps marked as executed whose pods were evicted, or may have been. They
// cannot be approved again.
func (p Plans) Execute(id string, outcomes []plan.Outcome, now time.Time) Plans {
	p = p.Expire(now)
	i := slices.IndexFunc(p.Waiting, func(w Plan) bool { return w.ID == id })
	if i < 0 {
		return p
	}
	w := &p.Waiting[i]
	for _, o := range outcomes {
		switch d := w.StateOf(o.Step); {
		case d.State != Approved:
		case o.Outcome == plan.Evicted, o.Outcome == plan.UnknownOutcome, o.Outcome == plan.InProgress:
			d.State = Executed
			w.decide([]int{o.Step}, d)
		}
	}
	return p
}
