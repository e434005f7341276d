package controller_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/notify/message"
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

// TestAPassDoesNotWaitForReceivers makes passes while the receivers of their notifications hang, fail and redirect.
func TestAPassDoesNotWaitForReceivers(t *testing.T) {
	asked := make(chan struct{}, 100)
	serve := func(answer http.HandlerFunc) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // afterwards the server notices that the client has gone
			asked <- struct{}{}
			answer(w, r)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	hangs := serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	counts := &resultCounts{}
	n := notify.New(clock.RealClock{}, slog.New(slog.DiscardHandler), counts)
	n.Configure([]notify.Receiver{{Name: "hangs", Format: message.JSON, URL: hangs, Timeout: time.Hour},
		{Name: "fails", Format: message.JSON, URL: serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), Timeout: time.Hour},
		{Name: "redirects", Format: message.JSON, URL: serve(http.RedirectHandler(hangs, http.StatusFound).ServeHTTP), Timeout: time.Hour}})
	defer n.Close(0)
	c, o := newController(t, &scriptedEvictor{}, plan.DryRun)
	c.Notifier = n
	for i := range 100 { // the conditions begin and end
		if o.err = nil; i%2 == 0 {
			o.err = errors.New("no snapshot")
		}
		_, _ = c.RunOnce(t.Context(), nil)
	}
	for range 3 {
		<-asked // each receiver got a request
	}
	if got := counts.delivered.Load(); got != 0 {
		t.Errorf("%d messages were delivered; want the passes to end before that", got)
	}
}

// resultCounts counts the messages that were delivered.
type resultCounts struct{ delivered atomic.Int32 }

func (*resultCounts) SetReceivers([]string) {}

func (c *resultCounts) RecordNotification(_ string, r notify.Result) {
	if r == notify.Sent {
		c.delivered.Add(1)
	}
}
