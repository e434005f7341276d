package controller_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestOutcomes causes every message of the controller about a move or a pass, and compares the
// messages with testdata/outcomes.txt.
func TestOutcomes(t *testing.T) {
	var lines []string
	say := func(r plan.RunReport) {
		for _, o := range r.Outcomes {
			if o.Outcome == plan.Dropped || o.Outcome == plan.Blocked {
				lines = append(lines, string(o.Reason.Code)+": "+o.Reason.Message)
			}
		}
		if r.Stopped != nil && r.Stopped.Message != "" {
			lines = append(lines, string(r.Stopped.Code)+": "+r.Stopped.Message)
		}
	}
	run := func(ctx context.Context, c *controller.Controller) plan.RunReport {
		r := must.Get(c.RunOnce(ctx, nil))(t)
		if len(r.Outcomes) != len(r.Plan.Moves) || len(r.Plan.Moves) != 2 || r.Stopped == nil {
			t.Errorf("got %d moves, %d outcomes, stop reason %v; want 2 moves, one outcome for each, and a stop reason", len(r.Plan.Moves),
				len(r.Outcomes), r.Stopped)
		}
		say(r)
		return r
	}

	// A replacement that does not become Ready stops the pass.
	c, _ := newController(t, &scriptedEvictor{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}},
		Stop: &plan.Reason{Code: plan.ReplacementNotReady}}}}, plan.Live)
	run(t.Context(), c)

	// The process is told to stop between two waves or before the first wave.
	ctx, cancel := context.WithCancel(t.Context())
	e := &scriptedEvictor{during: cancel}
	c, _ = newController(t, e, plan.Live)
	if run(ctx, c); len(e.waves) != 1 {
		t.Errorf("got %d waves, want 1", len(e.waves))
	}
	none := &scriptedEvictor{}
	c, _ = newController(t, none, plan.Live)
	ctx, cancel = context.WithCancel(t.Context())
	c.Planner = changedPlanner{Planner: c.Planner, change: func(*plan.Plan) { cancel() }}
	if run(ctx, c); len(none.waves) != 0 {
		t.Errorf("got %d waves after the stop", len(none.waves))
	}

	// The time for the pass is over before the second wave.
	c, _ = newController(t, nil, plan.Live)
	fake := c.Clock.(*clocktesting.FakeClock)
	c.Evictor, c.StopAt = &scriptedEvictor{during: func() { fake.Step(time.Minute) }}, fake.Now().Add(time.Minute)
	run(t.Context(), c)

	// A snapshot fails before the first or the second wave.
	for times := 1; times <= 2; times++ {
		seeing := &scriptedEvictor{}
		c, o := newController(t, seeing, plan.Live)
		o.failAfter(times, errors.New("listing pods: the server is currently unable to handle the request"))
		if run(t.Context(), c); len(seeing.waves) != times-1 {
			t.Errorf("got %d waves, want %d", len(seeing.waves), times-1)
		}
	}

	// The state cannot be saved before or after a wave.
	for saves := range 2 {
		c, _ := newController(t, &scriptedEvictor{}, plan.Live)
		useInstantTimers(c)
		c.Store = &memoryStore{failing: func(n int) error {
			if n > saves {
				return errors.New("configmaps \"evenkeel-state-03\": etcdserver: request timed out")
			}
			return nil
		}}
		run(t.Context(), c)
	}

	// The view of the cluster is stale before planning or between two waves.
	for times := range 2 {
		reports, seeing := []plan.RunReport{}, &scriptedEvictor{}
		c, o := newController(t, seeing, plan.Live)
		c.OnReport = func(r plan.RunReport) { reports = append(reports, r) }
		o.failAfter(2*times, &observe.StaleError{Resource: "pods", Until: c.Clock.Now().Add(-3 * time.Minute), Age: 3 * time.Minute,
			Err: errors.New("dial tcp 10.0.0.1:443: connect: connection refused")})
		r, err := c.RunOnce(t.Context(), nil)
		if refused := times == 0; refused != (err != nil) || refused != r.EndedBeforePlanning() || refused != (len(r.Plan.Moves) == 0) ||
			refused && r.Plan.ID == "" {
			t.Errorf("error %v, %+v", err, r)
		}
		if len(seeing.waves) != times || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != plan.ClusterViewStale {
			t.Errorf("got %d waves, reports %+v", len(seeing.waves), reports)
		}
		say(r)
	}

	// Alerts fire, or are unknown.
	for _, why := range []error{nil, errors.New("no answer within 10s")} {
		c, _ := newController(t, &scriptedEvictor{}, plan.Live)
		c.FiringAlerts = func(context.Context) ([]string, error) {
			return []string{"KubeAPIDown", "NodeNetworkDown", "etcdInsufficientMembers", "etcdNoLeader"}, why
		}
		run(t.Context(), c)
	}

	// The hints of a wave cannot be written, and the wave is dropped.
	for _, r := range hintFailureReports(t) {
		say(r)
	}
	emptying, _ := emptyingReport(t, plan.Blocked, plan.BlockedByPDB, &fakeHintWriter{on: map[string]hints.Hint{}})
	say(emptying)
	for _, r := range refusedPlanReports(t) {
		say(r)
	}
	a := newApprovalTest(t)
	a.Waiting = failingPlans{a.Waiting, fmt.Errorf("%w: its first wave does not fit into one object; "+
		"lower the limits of the strategies in mode approve (limits.perPass)", waiting.ErrTooLarge)}
	notKept, err := a.RunOnce(t.Context(), nil)
	if err != nil || notKept.Waiting == nil || notKept.Waiting.Problem == nil || notKept.Stopped != nil || len(a.events.notKept) != 1 {
		t.Fatalf("%v, %+v, stopped %+v, events %+v", err, notKept.Waiting, notKept.Stopped, a.events.notKept)
	}
	lines = append(lines, string(notKept.Waiting.Problem.Code)+": "+notKept.Waiting.Problem.Message)
	for _, code := range codesUsed(t) {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, code+": ") }) {
			t.Errorf("nothing provokes %s", code)
		}
	}
	for i := range lines { // they change with every key of the configuration
		lines[i] = regexp.MustCompile(`\b([0-9a-f]{16}|[0-9a-f]{12})\b`).ReplaceAllString(lines[i], "0123456789ab")
	}
	golden.EqualLines(t, "testdata/outcomes.txt", lines)
}

// codesUsed returns the reason codes that the code of this package uses. The constants have
// the same names as their values.
func codesUsed(t *testing.T) []string {
	t.Helper()
	var out []string
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, name := range files {
		text := must.Get(os.ReadFile(name))(t)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`Code:\s*plan\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
	}
	if len(out) == 0 {
		t.Fatal("no codes found")
	}
	return out
}

// TestABatchIsReportedWhenItEnds checks that the outcomes of a batch are known before the pass ends.
func TestABatchIsReportedWhenItEnds(t *testing.T) {
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	var batches []plan.Outcome
	c.OnBatch = func(r *plan.RunReport, done []plan.Outcome) {
		if !r.Finished.IsZero() || len(r.Moves()) == 0 {
			t.Errorf("a batch of a pass with %d moves that ended at %s", len(r.Moves()), r.Finished)
		}
		batches = append(batches, done...)
	}
	r := must.Get(c.RunOnce(t.Context(), []string{"zones"}))(t)
	if !reflect.DeepEqual(batches, r.Outcomes) || len(batches) == 0 || !slices.Equal(r.Due, []string{"zones"}) {
		t.Errorf("batches %+v; the report of strategies %q has %+v", batches, r.Due, r.Outcomes)
	}
}
