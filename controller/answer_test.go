package controller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// endAfterChecks ends the run after a number of checks for approved plans.
type endAfterChecks struct {
	controller.Approvals
	left int
	end  context.CancelFunc
}

func (a *endAfterChecks) Pending(ctx context.Context) (*approval.Request, error) {
	if a.left--; a.left <= 0 {
		a.end()
	}
	return a.Approvals.Pending(ctx)
}

// betweenPassesClock has timers like instantClock, except that no pass ever becomes due.
type betweenPassesClock struct{ *clocktesting.FakeClock }

func (b betweenPassesClock) NewTimer(d time.Duration) clock.Timer {
	if d > 24*time.Hour {
		return b.FakeClock.NewTimer(d)
	}
	return instantClock(b).NewTimer(d)
}

// runYearly lets no strategy become due while a test runs.
func runYearly(t *testing.T, c *controller.Controller) {
	t.Helper()
	yearly := must.Get(cron.Parse("0 0 1 7 *", time.UTC))(t)
	for i := range c.Strategies {
		c.Strategies[i].Firings = yearly
	}
}

// runWithApproval submits a plan, runs a controller for some checks for approved plans, and returns the stored report.
// failing decides whether a write of the report fails.
func runWithApproval(t *testing.T, failing func(write int) bool) (*plan.RunReport, int) {
	t.Helper()
	c, e, p := savedPlan(t)
	c.Clock = betweenPassesClock{c.Clock.(*clocktesting.FakeClock)}
	runYearly(t, c)
	client, writes := fake.NewClientset(), 0
	client.PrependReactor("update", "configmaps", func(ktesting.Action) (bool, runtime.Object, error) {
		if len(e.waves) == 0 {
			return false, nil, nil // the claim
		}
		if writes++; failing(writes) {
			return true, nil, errors.New("etcdserver: request timed out")
		}
		return false, nil, nil
	})
	box := approval.New(client, "evenkeel")
	must.Succeed(t, box.Submit(t.Context(), approval.Request{Plan: p, ApprovedBy: by.By, ApprovedAt: by.At}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c.Approvals = &endAfterChecks{box, 3, cancel}
	c.Run(ctx)
	r := must.Get(box.Report(t.Context(), p.ID))(t)
	return r, len(e.waves)
}

// TestTheReportOfAnApprovedPlanIsStoredLater lets one or five writes of the report fail. The leader must store it with
// a later write, and must not report that the process has ended.
func TestTheReportOfAnApprovedPlanIsStoredLater(t *testing.T) {
	for _, failures := range []int{1, 5} {
		r, waves := runWithApproval(t, func(write int) bool { return write <= failures })
		if waves != 2 || r == nil || r.Stopped != nil || len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.Evicted {
			t.Errorf("%d failures: %d waves, stored report %+v; want the report of the pass with two evictions", failures, waves, r)
		}
	}
}

// TestTheReportOfAnApprovedPlanIsGivenUp lets every write of the report fail for an hour. The leader must then accept
// other plans again.
func TestTheReportOfAnApprovedPlanIsGivenUp(t *testing.T) {
	writes := 0
	runWithApproval(t, func(write int) bool { writes = write; return true })
	// Each check waits 5 s and tries three times, 2 s apart.
	if least := int(time.Hour / (9 * time.Second)); writes < least {
		t.Errorf("%d writes, want tries for an hour: at least %d", writes, least)
	}
}
