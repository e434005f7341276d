package controller_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
)

var update = flag.Bool("update", false, "rewrite testdata/outcomes.txt")

// blinded sees the cluster a few times, and then no more.
type blinded struct {
	seen
	times int
}

func (o *blinded) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	if o.looks == o.times {
		o.err = errors.New("listing pods: the server is currently unable to handle the request")
	}
	return o.seen.Snapshot(ctx)
}

// stopping carries a wave out, and is told to stop thereafter.
type stopping struct {
	scripted
	stop context.CancelFunc
}

func (e *stopping) Wave(ctx context.Context, moves []plan.Move, bound func()) evictor.Result {
	defer e.stop()
	return e.scripted.Wave(ctx, moves, bound)
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
	c, _ := setUp(t, &scripted{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}, Stop: &plan.Reason{Code: plan.ReplacementNotReady}}}}, plan.Live)
	run(t.Context(), c)

	// So does being told to stop, between two waves and before the first.
	ctx, cancel := context.WithCancel(t.Context())
	e := &stopping{stop: cancel}
	c, _ = setUp(t, e, plan.Live)
	if run(ctx, c); len(e.waves) != 1 {
		t.Errorf("%d waves, want 1", len(e.waves))
	}
	none := &scripted{}
	c, _ = setUp(t, none, plan.Live)
	if run(ctx, c); len(none.waves) != 0 {
		t.Errorf("%d waves after the stop", len(none.waves))
	}

	// And a cluster that can no longer be seen, before either wave.
	for times := 1; times <= 2; times++ {
		seeing := &scripted{}
		c, o := setUp(t, seeing, plan.Live)
		c.Observer = &blinded{*o, times}
		if run(t.Context(), c); len(seeing.waves) != times-1 {
			t.Errorf("%d waves, want %d", len(seeing.waves), times-1)
		}
	}

	// Or hints that cannot be written: their wave is not made.
	for _, r := range unsteered(t) {
		say(r)
	}
	for _, code := range codesSaid(t) {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, code+": ") }) {
			t.Errorf("nothing provokes %s", code)
		}
	}
	compareGolden(t, lines)
}

// codesSaid are the codes that the package gives as a reason of its own. Their
// names are their values where the controller uses them.
func codesSaid(t *testing.T) []string {
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

func compareGolden(t *testing.T, lines []string) {
	t.Helper()
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	path := filepath.Join("testdata", "outcomes.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the controller says (rewrite with -update):\n%s", path, got)
	}
}
