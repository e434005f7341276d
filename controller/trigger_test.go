package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// requestRun is a controller that is due at 03:00, with the requests for other passes.
type requestRun struct {
	*scheduleRun
	server *objectstest.Server
}

func newRequestRun(t *testing.T) requestRun {
	t.Helper()
	r := newScheduleRun(t, "01:00:00", `  zones: {type: ZoneSpread, schedule: "0 3 * * *"}`+"\n"+
		`  hot: {type: NodeLoad, schedule: "0 3 * * *", args: {target: {cpu: 0.9}}}`)
	client, server := objectstest.New(r.clock)
	r.Runs = client.Runs
	return requestRun{r, server}
}

// request creates a request.
func (r requestRun) request(t *testing.T, name string, strategies ...string) {
	t.Helper()
	must.Get(r.Runs.Create(t.Context(), &v1alpha1.RebalanceRun{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.RebalanceRunSpec{Strategies: strategies, By: "alice"}}, metav1.CreateOptions{}))(t)
}

// expectStatus checks the phase of a request, and how its message begins.
func (r requestRun) expectStatus(t *testing.T, name string, phase v1alpha1.RunPhase, message string) {
	t.Helper()
	s := must.Get(r.Runs.Get(t.Context(), name, metav1.GetOptions{}))(t).Status
	ran := phase == v1alpha1.RunCompleted
	if s.Phase != phase || !strings.HasPrefix(s.Message, message) || message == "" && s.Message != "" || ran && s.RunID != "r1" ||
		(phase == "") != (s.Finished == nil) || ran && (s.Holder != "test" || s.Started == nil) {
		t.Errorf("request %s: %+v, want %s %q", name, s, phase, message)
	}
}

// at calls do at some times of day.
func at(do map[string]func()) func(time.Time) {
	return func(now time.Time) {
		if f := do[now.Format(time.TimeOnly)]; f != nil {
			f()
		}
	}
}

// The leader runs requested strategies once, between its passes, and at most once a minute.
func TestATriggeredStrategyRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRequestRun(t)
		r.request(t, "old", "zones")
		r.clock.Step(11 * time.Minute)
		r.lead(t, 2*time.Minute, at(map[string]func(){
			"01:11:10": func() { r.request(t, "second", "zones"); r.request(t, "first", "zones", "hot") },
			"01:11:40": func() { r.request(t, "soon", "zones") },
			"01:12:00": func() { r.request(t, "unknown", "zones", "spread") },
			"01:12:20": func() { r.request(t, "last", "hot") },
		}))
		r.expect(t, "01:11:15", "01:12:25")
		r.expectStatus(t, "old", v1alpha1.RunRejected, "it was made at 2026-01-01T01:00:00Z, more than 10m0s before or after now")
		r.expectStatus(t, "first", v1alpha1.RunCompleted, "")
		r.expectStatus(t, "second", v1alpha1.RunRejected, "the last trigger was less than 1m0s ago; trigger again in 55s")
		r.expectStatus(t, "soon", v1alpha1.RunRejected, "the last trigger was less than 1m0s ago; trigger again in 30s")
		r.expectStatus(t, "unknown", v1alpha1.RunRejected, `the configuration has no strategy "spread" (it has: hot, zones)`)
		r.expectStatus(t, "last", v1alpha1.RunCompleted, "")
	})
}

// TestATriggeredPassHasTheNewConfiguration: a configuration that arrives while the requests are read applies to the
// pass of a request.
func TestATriggeredPassHasTheNewConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRequestRun(t)
		changes := make(chan func(*controller.Controller), 1)
		r.Reloads = changes
		r.request(t, "a", "zones")
		lists := 0
		r.server.After = func(verb, _, _ string) error {
			if verb == "list" {
				if lists++; lists == 1 {
					changes <- func(*controller.Controller) { r.expectStatus(t, "a", "", "") }
				}
			}
			return nil
		}
		r.lead(t, time.Minute, nil)
		r.expect(t, "01:00:10")
		r.expectStatus(t, "a", v1alpha1.RunCompleted, "")
	})
}

// decisionsRead calls a function when decisions about plans are read.
type decisionsRead struct {
	controller.WaitingPlans
	read func()
}

func (d decisionsRead) Changed(context.Context, []plan.StoredPlan) (bool, error) {
	d.read()
	return false, nil
}

func (decisionsRead) Update(context.Context, []plan.StoredPlan, func(waiting.Plans) (waiting.Plans, error)) (waiting.Plans, error) {
	return waiting.Plans{}, nil
}

// TestDecisionsAreReadWithTheNewConfiguration: a configuration that arrives during a pass applies before approved steps
// are executed.
func TestDecisionsAreReadWithTheNewConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "02:59:50", `  zones: {type: ZoneSpread, schedule: "0 3 * * *"}`)
		changes, reads, pending := make(chan func(*controller.Controller), 1), 0, false
		r.Reloads = changes
		r.OnReport = func(plan.RunReport) {
			pending = true
			changes <- func(*controller.Controller) { pending = false }
		}
		r.Waiting = decisionsRead{read: func() {
			if reads++; pending {
				t.Error("decisions are read with the former configuration")
			}
		}}
		r.lead(t, 30*time.Second, nil)
		if pending || reads < 5 {
			t.Errorf("a configuration waits: %t; decisions were read %d times, want at least 5", pending, reads)
		}
	})
}

// TestATriggerIsTakenOnce checks that a request runs at most once, whatever happens to the calls about it.
func TestATriggerIsTakenOnce(t *testing.T) {
	lost := errors.New("read tcp: connection reset by peer")
	group := schema.GroupResource{Group: "evenkeel.io", Resource: "rebalanceruns"}
	for name, c := range map[string]struct {
		fail, after map[string]error // of each call, by its number and verb
		passes      []string
		phase       v1alpha1.RunPhase
		message     string
	}{
		"every answer arrives":             {nil, nil, []string{"01:00:05"}, v1alpha1.RunCompleted, ""},
		"another process takes it first":   {map[string]error{"1 update/status": apierrors.NewConflict(group, "a", nil)}, nil, []string{"01:00:10"}, v1alpha1.RunCompleted, ""},
		"it is not stored":                 {map[string]error{"1 update/status": lost}, nil, []string{"01:00:10"}, v1alpha1.RunCompleted, ""},
		"it is stored, the answer is lost": {nil, map[string]error{"1 update/status": lost}, []string{"01:00:05"}, v1alpha1.RunCompleted, ""},
		"it is stored, no answer arrives": {map[string]error{"1 get": lost}, map[string]error{"1 update/status": lost}, nil, v1alpha1.RunRejected,
			"the process that took it (test) ended before it stored a result; the request is not repeated"},
		"the result is stored later": {map[string]error{"2 update/status": lost, "2 get": lost}, nil, []string{"01:00:05"},
			v1alpha1.RunCompleted, ""},
		"the answer about the result is lost": {nil, map[string]error{"2 update/status": lost}, []string{"01:00:05"}, v1alpha1.RunCompleted, ""},
		"a rejection conflicts": {map[string]error{"1 get": lost, "2 update/status": apierrors.NewConflict(group, "a", nil)},
			map[string]error{"1 update/status": lost}, nil, v1alpha1.RunRejected, "the process that took it (test)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRequestRun(t)
				r.request(t, "a", "zones")
				numbered := func(of map[string]error) func(verb, resource, name string) error {
					n := map[string]int{}
					return func(verb, _, _ string) error { n[verb]++; return of[fmt.Sprint(n[verb], " ", verb)] }
				}
				r.server.Fail, r.server.After = numbered(c.fail), numbered(c.after)
				r.lead(t, time.Minute, nil)
				r.expect(t, c.passes...)
				r.server.Fail, r.server.After = nil, nil
				r.expectStatus(t, "a", c.phase, c.message)
			})
		})
	}
}

// A request is not repeated by the next leader, and the former one does not overwrite the answer of the next.
func TestARequestOfAnEndedProcess(t *testing.T) {
	former, next := newRequestRun(t), newRequestRun(t)
	next.Runs, next.Holder = former.Runs, "next"
	former.request(t, "a", "zones")
	former.OnReport = func(plan.RunReport) { next.ExecuteRequested(t.Context()) } // during the pass of the former leader
	former.ExecuteRequested(t.Context())
	next.expect(t)
	former.expectStatus(t, "a", v1alpha1.RunRejected, "the process that took it (test) ended")
}

// A single pass takes one request that waited for the next job, and leaves the others for the jobs after it.
func TestASinglePassTakesOneRequest(t *testing.T) {
	r := newRequestRun(t)
	r.request(t, "b", "zones")
	r.clock.Step(3 * 24 * time.Hour)
	r.request(t, "a", "zones")
	r.clock.Step(time.Second)
	r.ExecuteRequested(t.Context())
	r.expectStatus(t, "b", v1alpha1.RunCompleted, "")
	r.expectStatus(t, "a", "", "")
	r.Mode = plan.DryRun
	r.ExecuteRequested(t.Context())
	r.expectStatus(t, "a", "", "")
}

// The status says why a pass ended early. It is also stored if the process must stop.
func TestTheStatusOfARequestNamesWhatEndedItsPass(t *testing.T) {
	r := newRequestRun(t)
	r.request(t, "a", "zones")
	ctx, stop := context.WithCancel(t.Context())
	r.Observer = &fixedObserver{before: stop, err: errors.New("no list of pods\n")}
	r.ExecuteRequested(ctx)
	r.expectStatus(t, "a", v1alpha1.RunCompleted, "the pass ended early: Interrupted: the process was told to stop")
}

// Somebody makes 2,000 requests. Each poll sends a bounded number of calls, a request of another person is answered,
// passes are punctual, and in the end nothing is left.
func TestManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRequestRun(t)
		r.clock.SetTime(time.Date(2026, 1, 1, 2, 55, 0, 0, time.UTC))
		for i := range 2_000 {
			r.request(t, fmt.Sprintf("flood-%04d", i), "zones", strings.Repeat("x", 63))
		}
		r.request(t, "zones-of-bob", "zones")
		calls, most := 0, 0
		count := func(string, string, string) error { calls++; return nil }
		r.server.Fail = count
		answered := time.Time{}
		r.lead(t, 9*time.Minute, func(now time.Time) {
			most, calls = max(most, calls), 0
			if r.server.Fail = nil; answered.IsZero() && must.Get(r.Runs.Get(t.Context(), "zones-of-bob", metav1.GetOptions{}))(t).Status.Phase != "" {
				answered = now
			}
			r.server.Fail = count
		})
		if most > 5+20+20+3 || answered.IsZero() {
			t.Errorf("%d calls in one poll, and the request of another person was answered at %s", most, answered)
		}
		if r.passes[0] != "03:00:00" && r.passes[1] != "03:00:00" {
			t.Errorf("passes at %v, want one at 03:00:00", r.passes)
		}
		stop := startLoop(t, r.Controller)
		for range 1_000 { // 83 minutes
			synctest.Wait()
			r.clock.Step(5 * time.Second)
		}
		synctest.Wait()
		stop()
		if left := must.Get(r.Runs.List(t.Context(), metav1.ListOptions{}))(t).Items; len(left) > 0 {
			t.Errorf("%d requests are left", len(left))
		}
	})
}

// Where the kind is not installed, the log says so once, and passes go on. An expired page is read on.
func TestRequestsThatCannotBeRead(t *testing.T) {
	group := schema.GroupResource{Group: "evenkeel.io", Resource: "rebalanceruns"}
	missing := apierrors.NewGenericServerResponse(404, "list", group, "", "404 page not found", 0, true)
	expired := apierrors.NewResourceExpired("the continue parameter is too old")
	expired.ErrStatus.Continue = "a"
	for err, c := range map[error]struct{ warnings, passes int }{missing: {1, 1}, expired: {0, 1}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRequestRun(t)
			r.clock.SetTime(time.Date(2026, 1, 1, 2, 59, 0, 0, time.UTC))
			warnings := 0
			r.Log = slog.New(warningCounter{slog.DiscardHandler, "the cluster does not know this kind", &warnings})
			r.server.Fail = func(string, string, string) error { return err }
			r.lead(t, 2*time.Minute, nil)
			if len(r.passes) != c.passes || warnings != c.warnings {
				t.Errorf("%v: passes at %v, %d warnings, want %+v", err, r.passes, warnings, c)
			}
		})
	}
}

// warningCounter counts the warnings whose error contains a text.
type warningCounter struct {
	slog.Handler
	text string
	n    *int
}

func (warningCounter) Enabled(context.Context, slog.Level) bool { return true }

func (h warningCounter) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h warningCounter) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), h.text) {
			*h.n++
		}
		return true
	})
	return nil
}

// The status of a request names the plan of its pass, if the pass stored one.
func TestARequestNamesItsPlan(t *testing.T) {
	c, client, _ := recordedController(t, &scriptedEvictor{}, plan.Live)
	c.Runs = client.Runs
	for i, want := range []string{"20260101-000030-r1", ""} {
		name := fmt.Sprint("r", i+1)
		must.Get(c.Runs.Create(t.Context(), &v1alpha1.RebalanceRun{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.RebalanceRunSpec{Strategies: []string{"zones"}, By: "alice"}}, metav1.CreateOptions{}))(t)
		c.NewRunID = func() string { return name }
		c.ExecuteRequested(t.Context())
		if s := must.Get(c.Runs.Get(t.Context(), name, metav1.GetOptions{}))(t).Status; s.Phase != v1alpha1.RunCompleted || s.Plan != want {
			t.Errorf("request %s: %+v, want the plan %q", name, s, want)
		}
		c.Observer = &fixedObserver{err: errors.New("no answer")} // the next pass makes no plan
		c.Clock.(*clocktesting.FakeClock).Step(2 * time.Minute)
	}
}
