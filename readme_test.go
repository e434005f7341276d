package evenkeel_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestReadmeShowsWhatIsPrinted: the report in the README is the one that the
// command above it gives, to the letter.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	c, err := config.Load("config.yaml", evenkeel.DefaultConfig)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, planOfExample(t, c)); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```\n"+b.String()+"```\n") {
		t.Errorf("README.md shows another report than this one:\n%s", b.String())
	}
}

// TestSteeringExampleSteers: with steering the example makes certain what without
// it is left alone.
func TestSteeringExampleSteers(t *testing.T) {
	c, err := config.LoadFile("examples/steering.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := planOfExample(t, c)
	if len(p.Moves) != 2 || !p.Moves[1].Steered() || !slices.Equal(p.HintsForWave(2).Nodes, []string{"n3"}) || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v, hints %+v; want a second move that is steered by a hint on n3", c.DryRun, p.Moves, p.Hints)
	}
	c.Evictor.Steer = "none"
	if p := planOfExample(t, c); len(p.Moves) != 1 || len(p.Hints) != 0 {
		t.Errorf("without steering: %d moves, hints %v; want one move", len(p.Moves), p.Hints)
	}
}

// TestBusyNodeExample: by load one large pod leaves the busy node, but only with the hint;
// by requests nothing is wrong with it. The report of the README is the one of that plan.
func TestBusyNodeExample(t *testing.T) {
	c, err := config.LoadFile("examples/by-load.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := planFor(t, "examples/busy-node.yaml", c)
	if len(p.Moves) != 1 || p.Moves[0].Pod.Name != "big-6c8f-00" || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v; want one, of big-6c8f-00", c.DryRun, p.Moves)
	}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "Part of the report:\n\n```\n")
	excerpt, _, _ := strings.Cut(section, "```")
	if excerpt == "" {
		t.Error("README.md shows nothing of the report")
	}
	for line := range strings.Lines(excerpt) {
		if !strings.Contains(b.String(), line) {
			t.Errorf("README.md shows a line that is not in the report: %s", line)
		}
	}
	c.DryRun = false
	if p := planFor(t, "examples/busy-node.yaml", c); len(p.Moves) > 0 || p.Rejections.Counts[plan.WouldReturn] != 4 {
		t.Errorf("without the hint: moves %+v, refusals %v; want each pod to come back", p.Moves, p.Rejections.Counts)
	}
	c, err = config.Load("config.yaml", evenkeel.DefaultConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range planFor(t, "examples/busy-node.yaml", c).Moves {
		if m.Reason.Code == plan.NodeOverUtilized {
			t.Errorf("by requests: %+v; want no move for a node", m)
		}
	}
}

// planOfExample is the plan for the cluster that the README shows.
func planOfExample(t *testing.T, c *config.Config) plan.Plan {
	t.Helper()
	return planFor(t, "examples/three-zones.yaml", c)
}

func planFor(t *testing.T, file string, c *config.Config) plan.Plan {
	t.Helper()
	objects, err := cluster.ReadFiles([]string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
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
