package controller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/plan"
)

// endAfterChecks ends the run after a number of looks for decisions.
type endAfterChecks struct {
	controller.WaitingPlans
	left int
	end  context.CancelFunc
}

func (a *endAfterChecks) Changed(ctx context.Context, made []plan.StoredPlan) (bool, error) {
	if a.left--; a.left <= 0 {
		a.end()
	}
	return a.WaitingPlans.Changed(ctx, made)
}

// betweenPassesClock has timers like instantClock, except that no pass ever becomes due.
type betweenPassesClock struct{ *clocktesting.FakeClock }

func (b betweenPassesClock) NewTimer(d time.Duration) clock.Timer {
	if d > 24*time.Hour {
		return b.FakeClock.NewTimer(d)
	}
	return instantClock(b).NewTimer(d)
}

// TestTheEndOfAnApprovedPlanIsWrittenLater lets writes of the status fail after the evictions. The leader writes it
// with a later look, and executes no other plan before.
func TestTheEndOfAnApprovedPlanIsWrittenLater(t *testing.T) {
	for _, failures := range []int{1, 7} {
		a := newApprovalTest(t)
		w := a.pass(t)
		a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
		failed := 0
		a.server.Fail = func(verb, resource, _ string) error {
			if failed < failures && verb == "update/status" && resource == "rebalanceplans" && len(a.evictor.waves) > 0 {
				failed++
				return errors.New("etcdserver: request timed out")
			}
			return nil
		}
		a.lead(t, 10)
		if st := a.status(t, w.Name); st.Evicted == 0 || st.Steps[0].State != v1alpha1.StepEvicted || failed != failures {
			t.Errorf("%d failures of %d: %+v", failed, failures, st)
		}
	}
}
