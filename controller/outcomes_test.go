package controller_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// failingObserver sees the cluster a few times, and then no more.
type failingObserver struct {
	fixedObserver
	times int
	why   error
}

func (o *failingObserver) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	if o.snapshots == o.times {
		o.err = o.why
	}
	return o.fixedObserver.Snapshot(ctx)
}

// stoppingEvictor carries a wave out, and is told to stop thereafter.
type stoppingEvictor struct {
	scriptedEvictor
	stop context.CancelFunc
}

func (e *stoppingEvictor) EvictWave(ctx context.Context, moves []plan.Move, bound func()) evictor.Result {
	defer e.stop()
	return e.scriptedEvictor.EvictWave(ctx, moves, bound)
}

// TestOutcomes provokes everything that the controller itself says of a move or
// of a pass, and keeps its words in testdata/outcomes.txt.
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
		r, err := c.RunOnce(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Outcomes) != len(r.Plan.Moves) || len(r.Plan.Moves) != 2 || r.Stopped == nil {
			t.Errorf("%d moves, %d outcomes, stopped %v; want 2, one for each, and a stop", len(r.Plan.Moves), len(r.Outcomes), r.Stopped)
		}
		say(r)
		return r
	}

	// A replacement that does not come up ends the pass.
	c, _ := newController(t, &scriptedEvictor{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}, Stop: &plan.Reason{Code: plan.ReplacementNotReady}}}}, plan.Live)
	run(t.Context(), c)

	// So does being told to stop, between two waves and before the first.
	ctx, cancel := context.WithCancel(t.Context())
	e := &stoppingEvictor{stop: cancel}
	c, _ = newController(t, e, plan.Live)
	if run(ctx, c); len(e.waves) != 1 {
		t.Errorf("%d waves, want 1", len(e.waves))
	}
	none := &scriptedEvictor{}
	c, _ = newController(t, none, plan.Live)
	if run(ctx, c); len(none.waves) != 0 {
		t.Errorf("%d waves after the stop", len(none.waves))
	}

	// And a cluster that can no longer be seen, before either wave.
	for times := 1; times <= 2; times++ {
		seeing := &scriptedEvictor{}
		c, o := newController(t, seeing, plan.Live)
		c.Observer = &failingObserver{*o, times, errors.New("listing pods: the server is currently unable to handle the request")}
		if run(t.Context(), c); len(seeing.waves) != times-1 {
			t.Errorf("%d waves, want %d", len(seeing.waves), times-1)
		}
	}

	// Or a memory that cannot be written, before a wave or after it.
	for saves := range 2 {
		c, _ := newController(t, &scriptedEvictor{}, plan.Live)
		skipTimers(c)
		c.Store = &memoryStore{failing: func(n int) error {
			if n > saves {
				return errors.New("configmaps \"evenkeel-state-03\": etcdserver: request timed out")
			}
			return nil
		}}
		run(t.Context(), c)
	}

	// Or one that is only known as of long ago: before anything is planned, and
	// between two waves.
	for times := range 2 {
		reports, seeing := []plan.RunReport{}, &scriptedEvictor{}
		c, o := newController(t, seeing, plan.Live)
		c.OnReport = func(r plan.RunReport) { reports = append(reports, r) }
		c.Observer = &failingObserver{*o, 2 * times, &observe.StaleError{Resource: "pods", Until: c.Clock.Now().Add(-3 * time.Minute), Age: 3 * time.Minute,
			Max: 2 * time.Minute, Err: errors.New("dial tcp 10.0.0.1:443: connect: connection refused")}}
		r, err := c.RunOnce(t.Context(), nil)
		if refused := times == 0; refused != (err != nil) || refused != r.EndedBeforePlanning() || refused != (len(r.Plan.Moves) == 0) || refused && r.Plan.ID == "" {
			t.Errorf("error %v, %+v", err, r)
		}
		if len(seeing.waves) != times || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != plan.ClusterViewStale {
			t.Errorf("%d waves, reports %+v", len(seeing.waves), reports)
		}
		say(r)
	}

	// Or hints that cannot be written: their wave is not made.
	for _, r := range hintFailureReports(t) {
		say(r)
	}
	for _, r := range refusedPlanReports(t) {
		say(r)
	}
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

// codesUsed are the codes that the package gives as a reason of its own. Their
// names are their values where the controller uses them.
func codesUsed(t *testing.T) []string {
	t.Helper()
	var out []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
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
