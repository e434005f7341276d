package controller_test

import (
	"errors"
	"slices"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
)

// recordingNotifier announces one more condition in each pass.
type recordingNotifier struct {
	announced [][]string // the arguments of PassEnded
	stopped   []*plan.Reason
}

func (n *recordingNotifier) PassEnded(announced []string, r plan.RunReport, _ plan.PlannerState) []string {
	n.announced, n.stopped = append(n.announced, announced), append(n.stopped, r.Stopped)
	return append(slices.Clone(announced), "usageSilent/")
}

// TestWhatWasAnnouncedIsRemembered checks that each pass knows what the passes before announced:
// the next process from the state, and the same process also if the state was not saved.
func TestWhatWasAnnouncedIsRemembered(t *testing.T) {
	store := &memoryStore{}
	n := &recordingNotifier{}
	pass := func(c *controller.Controller) {
		t.Helper()
		c.Store, c.Notifier = store, n
		_, _ = c.RunOnce(t.Context(), nil)
	}
	live, o := newController(t, &scriptedEvictor{}, plan.Live)
	live.Clock = instantClock{clocktesting.NewFakeClock(o.s.TakenAt)}
	pass(live)
	next, _ := newController(t, &scriptedEvictor{}, plan.Live)
	next.Clock = live.Clock
	pass(next) // another process
	store.failing = func(int) error { return errors.New("read only") }
	pass(next)
	pass(next)
	o.err, store.failing = errors.New("no snapshot"), nil
	pass(live) // cannot begin
	o.err = nil
	pass(live)
	dry, _ := newController(t, &scriptedEvictor{}, plan.DryRun)
	pass(dry)
	pass(dry)
	var got []int
	for _, a := range n.announced {
		got = append(got, len(a))
	}
	if want := []int{0, 1, 2, 3, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("the passes knew %d announced conditions, want %d", got, want)
	}
	if n.stopped[4] == nil || n.stopped[4].Code != plan.APIError {
		t.Errorf("a pass that cannot begin stopped for %+v", n.stopped[4])
	}
}
