package controller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// instantClock has timers that fire at once and advance the clock to their time.
type instantClock struct{ *clocktesting.FakeClock }

// NewTimer implements clock.Clock.
func (h instantClock) NewTimer(d time.Duration) clock.Timer {
	t := h.FakeClock.NewTimer(d)
	h.Step(d)
	return t
}

func useInstantTimers(c *controller.Controller) {
	c.Clock = instantClock{c.Clock.(*clocktesting.FakeClock)}
}

// failSavesAfterEvictions returns a save hook for a pass of two waves. The saves of reservations
// and outcomes succeed; the given number of later saves fail.
func failSavesAfterEvictions(failures int) func(save int) error {
	return func(save int) error {
		if save > 4 && save <= 4+failures {
			return errors.New("writing ConfigMap evenkeel/evenkeel-state-03: etcdserver: request timed out")
		}
		return nil
	}
}

// Closing a run succeeds after two failures. After three failures, UnclosedRuns returns an
// error with the run, the ConfigMap and the consequences.
func TestClosingIsTriedAgain(t *testing.T) {
	for failures, closed := range map[int]bool{0: true, 2: true, 3: false} {
		m := &memoryStore{failing: failSavesAfterEvictions(failures)}
		c, _ := newController(t, &reservationEvictor{store: m}, plan.Live)
		useInstantTimers(c)
		c.Store = m
		begun := c.Clock.Now()
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil || r.Stopped != nil || len(r.Outcomes) != 2 {
			t.Fatalf("%d failures: got error %v, report %+v", failures, err, r)
		}
		if open := len(m.decode(t).Runs); (open == 0) != closed || (c.UnclosedRuns() == nil) != closed {
			t.Errorf("%d failures: got %d open runs, error %v", failures, open, c.UnclosedRuns())
		}
		if waited := c.Clock.Since(begun); waited != 2*time.Second*time.Duration(min(failures, 2)) {
			t.Errorf("%d failures: waited %s", failures, waited)
		}
		if closed {
			continue
		}
		for _, want := range []string{"run r1 ", "3 attempts", "ConfigMap evenkeel/evenkeel-state-03", "check that",
			"same run ID and marked as a recovery"} {
			if !strings.Contains(c.UnclosedRuns().Error(), want) {
				t.Errorf("got error %[2]v, want it to contain %[1]q", want, c.UnclosedRuns())
			}
		}
		c.NewRunID = func() string { return "r2" } // the next pass of this process closes the run
		if _, err := c.RunOnce(t.Context(), nil); err != nil || c.UnclosedRuns() != nil || len(m.decode(t).Runs) != 0 {
			t.Errorf("the next pass: got error %v, unclosed runs %v, open runs %+v", err, c.UnclosedRuns(), m.decode(t).Runs)
		}
	}
}

// A pass without reservations has no run to close.
func TestAPassThatReservedNothingLeavesNothingOpen(t *testing.T) {
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	useInstantTimers(c)
	c.Strategies, c.Store = nil, &memoryStore{failing: func(int) error { return errors.New("timed out") }}
	if _, err := c.RunOnce(t.Context(), nil); err != nil || c.UnclosedRuns() != nil {
		t.Errorf("%v, %v", err, c.UnclosedRuns())
	}
}

// A process recovers a run only once, even if the first attempt to save the recovery fails. A
// process never recovers its own run, because it has already reported that run.
func TestARunIsRecoveredOnceByAProcess(t *testing.T) {
	m := &memoryStore{failing: failSavesAfterEvictions(3)}
	first, _ := newController(t, &reservationEvictor{store: m}, plan.Live)
	useInstantTimers(first)
	first.Store, first.Holder = m, "first"
	var reports []plan.RunReport
	note := func(r plan.RunReport) { reports = append(reports, r) }
	first.OnReport = note
	if _, err := first.RunOnce(t.Context(), nil); err != nil || first.UnclosedRuns() == nil {
		t.Fatal(err, first.UnclosedRuns())
	}

	next, _ := newController(t, &reservationEvictor{store: m}, plan.Live)
	useInstantTimers(next)
	next.Store, next.Resolver, next.OnReport, next.Holder = m, nothingOpen(t), note, "next"
	next.NewRunID = func() string { return "r2" }
	m.saves, m.failing = 0, func(save int) error { // recording outcomes works, closing does not
		if save > 1 {
			return errors.New("timed out")
		}
		return nil
	}
	if _, err := next.RunOnce(t.Context(), nil); err == nil {
		t.Fatal("the pass continues although an earlier run could not be closed")
	}
	m.failing = nil
	next.NewRunID = func() string { return "r3" }
	if _, err := next.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, r := range reports {
		of := ""
		if r.Recovery != nil {
			of = " of " + r.Recovery.Holder
		}
		runs = append(runs, r.RunID+of)
	}
	if got := strings.Join(runs, ", "); got != "r1, r1 of first, r2, r3" {
		t.Errorf("got reports %s; want the run, its recovery, the pass that could not start, and the next pass", got)
	}
	if r := reports[1]; len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.Evicted || r.Outcomes[1].Outcome != plan.Evicted {
		t.Errorf("got outcomes %+v in the recovery", r.Outcomes)
	}
	if r := reports[2]; r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable || !r.EndedBeforePlanning() {
		t.Errorf("got stop reason %+v for the pass that could not start", r.Stopped)
	}
}

// Every pass has a report with a reason, even a pass that could not start.
func TestEveryPassLeavesAReport(t *testing.T) {
	down := errors.New("etcdserver: request timed out")
	left := []byte(`{"runs":[{"runID":"r0","holder":"dead","reservations":[{"step":1,"pod":{"namespace":"shop","name":"d","uid":"u"}}]}]}`)
	stale := &observe.StaleError{Resource: "pods", Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Age: 3 * time.Minute, Err: down}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		name string
		ctx  context.Context
		make func(c *controller.Controller, o *fixedObserver)
		mode plan.Mode
		want plan.Code
	}{
		{"no memory", t.Context(), func(c *controller.Controller, _ *fixedObserver) { c.Store = &memoryStore{unreadable: down} }, plan.Live,
			plan.StateUnavailable},
		{"told to stop", ended, func(c *controller.Controller, _ *fixedObserver) { c.Store = &memoryStore{unreadable: context.Canceled} },
			plan.Live, plan.Interrupted},
		{"Resolve fails", t.Context(), func(c *controller.Controller, _ *fixedObserver) {
			c.Store, c.Resolver = &memoryStore{bytes: left}, resolver(func() (plan.Outcome, error) { return plan.Outcome{}, down })
		}, plan.Live, plan.APIError},
		{"nor settled", t.Context(), func(c *controller.Controller, _ *fixedObserver) {
			c.Store, c.Resolver = &memoryStore{bytes: left, failing: func(int) error { return down }}, resolver(podGone)
		}, plan.Live, plan.StateUnavailable},
		{"no look", t.Context(), func(_ *controller.Controller, o *fixedObserver) { o.err = down }, plan.Live, plan.APIError},
		{"Resolve is not called in a dry run", t.Context(), func(_ *controller.Controller, o *fixedObserver) { o.err = down }, plan.DryRun,
			plan.APIError},
		{"an old look", t.Context(), func(_ *controller.Controller, o *fixedObserver) { o.err = stale }, plan.DryRun, plan.ClusterViewStale},
	} {
		for _, applied := range []bool{false, true} {
			e := &scriptedEvictor{}
			c, o := newController(t, e, x.mode)
			p := approvablePlan(t, c, o)
			x.make(c, o)
			var reports []plan.RunReport
			c.OnReport = func(r plan.RunReport) { reports = append(reports, r) }
			run := func() (plan.RunReport, error) { return c.RunOnce(x.ctx, nil) }
			if applied {
				run = func() (plan.RunReport, error) { return apply(x.ctx, t, c, p) }
			}
			r, err := run()
			if m := c.Store.(*memoryStore); applied && m.unreadable != nil { // without the state, no plan is claimed
				if err == nil || len(reports) != 0 || len(e.waves) != 0 {
					t.Errorf("%s: got error %v, %d reports, %d waves", x.name, err, len(reports), len(e.waves))
				}
				continue
			}
			if err == nil || len(reports) != 1 || len(e.waves) != 0 {
				t.Errorf("%s, applied %v: got error %v, %d reports, %d waves", x.name, applied, err, len(reports), len(e.waves))
				continue
			}
			for _, r := range []plan.RunReport{r, reports[0]} {
				if r.Stopped == nil || r.Stopped.Code != x.want || r.Plan.ID == "" || r.Finished.IsZero() || r.EndedBeforePlanning() == applied {
					t.Errorf("%s, applied %v: got stop reason %+v, plan %q, ended before planning %v; want %s", x.name, applied, r.Stopped, r.Plan.ID,
						r.EndedBeforePlanning(), x.want)
				}
				if applied && (r.Approval == nil || len(r.Outcomes) != len(p.Moves) || r.Outcomes[0].Outcome != plan.Dropped) {
					t.Errorf("%s: got outcomes %+v for the approved plan", x.name, r.Outcomes)
				}
			}
		}
	}
}

// approvablePlan returns a plan of two moves.
func approvablePlan(t *testing.T, c *controller.Controller, o *fixedObserver) plan.Plan {
	t.Helper()
	p := c.Planner.Plan(o.s, plan.PlannerState{}, controller.Goals(o.s, c.Strategies, nil), o.s.TakenAt)
	if len(p.Moves) != 2 {
		t.Fatalf("got %d moves, want 2", len(p.Moves))
	}
	return p
}

var _ evictor.Evictor = &reservationEvictor{}
