// Package examples tests the examples, and the reports of them that the documents show.
package examples

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/view"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	m.Run()
}

// examplesWithMoves are examples in which each move has a different reason.
var examplesWithMoves = map[string][]string{
	"busy-network":   {"sends-6c8f-01 NodeOverUtilized"},
	"uneven-pods":    {"api-6c8f-00 TooManyDuplicates", "cache-6c8f-01 AntiAffinityViolated", "web-6c8f-00 SpreadConstraintViolated"},
	"wrong-nodes":    {"api-6c8f-00 NodeAffinityViolated", "web-6c8f-01 TaintNotTolerated", "wish-6c8f-00 BetterNodeExists"},
	"unhealthy-pods": {"crash-6c8f-00 TooManyRestarts", "old-6c8f-01 PodExpired", "web-6c8f-02 PodFailed"},
}

// TestExamplesWithMoves checks that each trouble of the examples causes one move.
func TestExamplesWithMoves(t *testing.T) {
	for name, want := range examplesWithMoves {
		c := load(t, "examples/"+name+".yaml")
		var got []string
		for _, m := range planFor(t, "examples/"+name+"-cluster.yaml", c).Moves {
			got = append(got, m.Pod.Name+" "+string(m.Reason.Code))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || !c.DryRun {
			t.Errorf("%s: dryRun %t, moves %q, want %q", name, c.DryRun, got, want)
		}
	}
}

// TestEveryStrategyHasAnExample checks that a configuration in examples uses each type of strategy,
// that examples/README.md names each file, and that docs/strategies.md has a paragraph and a picture
// for each type.
func TestEveryStrategyHasAnExample(t *testing.T) {
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	readme, page := readText(t, "examples/README.md"), readText(t, "docs/strategies.md")
	shown := map[string]bool{"ZoneSpread": true} // the built-in configuration has one, for examples/three-zones.yaml
	for _, f := range files {
		if base := filepath.Base(f); !strings.Contains(readme, "("+base+")") {
			t.Errorf("examples/README.md does not name %s", base)
		}
		if !strings.Contains(readText(t, f), "kind: RebalanceConfig") {
			continue
		}
		c := load(t, f)
		for _, s := range c.Strategies {
			shown[s.Type] = true
		}
	}
	for _, typ := range strategies.Types() {
		if !shown[typ] {
			t.Errorf("no configuration in examples has a strategy of type %s", typ)
		}
		if !strings.Contains(page, "[**"+typ+"**](reference/strategies.md#"+strings.ToLower(typ)+")") {
			t.Errorf("docs/strategies.md has no paragraph about %s", typ)
		}
		if !strings.Contains(page, `<img src="pictures/strategy-`+strings.ToLower(typ)+`.png" alt="`) {
			t.Errorf("docs/strategies.md has no picture of %s", typ)
		}
	}
}

// planOfExample returns the plan for the cluster in README.md.
func planOfExample(t *testing.T, c *config.Config) plan.Plan {
	t.Helper()
	return planFor(t, "examples/three-zones.yaml", c)
}

func planFor(t *testing.T, file string, c *config.Config) plan.Plan {
	t.Helper()
	objects := must.Get(cluster.ReadFiles([]string{file}, nil))(t)
	return planOf(t, objects, c)
}

func planOf(t *testing.T, objects *cluster.Objects, c *config.Config) plan.Plan {
	t.Helper()
	s, err := cluster.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	by := planner.New(c.PlannerOptions())
	if s, err = by.PredictHints(s); err != nil {
		t.Fatal(err)
	}
	return by.Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
}

func load(t *testing.T, file string) *config.Config {
	t.Helper()
	c := must.Get(config.LoadFile(file))(t)
	return c
}

func reportOf(t *testing.T, p plan.Plan) string {
	t.Helper()
	var b strings.Builder
	must.Succeed(t, report.Plan(&b, report.Table, p, report.Options{Context: &view.Context{Snapshot: true, PerMinute: 30, VerifyTimeout: 5 * time.Minute}}))
	return b.String()
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}
