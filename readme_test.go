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

// TestReadmeShowsWhatIsPrinted checks that README.md contains the exact report of the command above it.
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
		t.Errorf("the report in README.md differs from this one:\n%s", b.String())
	}
}

// TestSteeringExampleSteers checks that the example plans a second move only with steering.
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

// TestWrongNodesExample checks that one pod leaves for each kind of violation, and that the others stay.
func TestWrongNodesExample(t *testing.T) {
	c, err := config.LoadFile("examples/wrong-nodes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range planFor(t, "examples/wrong-nodes-cluster.yaml", c).Moves {
		got = append(got, m.Pod.Name+" "+string(m.Reason.Code))
	}
	slices.Sort(got)
	want := []string{"api-6c8f-00 NodeAffinityViolated", "web-6c8f-01 TaintNotTolerated", "wish-6c8f-00 BetterNodeExists"}
	if !slices.Equal(got, want) || !c.DryRun {
		t.Errorf("dryRun %t, moves %q, want %q", c.DryRun, got, want)
	}
}

// TestConsolidationExample checks that the example empties two nodes, and that the budget of queue keeps the third.
func TestConsolidationExample(t *testing.T) {
	c, err := config.LoadFile("examples/consolidation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, planFor(t, "examples/consolidation-cluster.yaml", c)); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	const want = "Plan: 2 nodes emptied by 3 evictions; 1 node with few requests stays; lower bound 3; dry run: nothing is evicted."
	if first != want || !c.DryRun {
		t.Errorf("dryRun %t, the first line is\n%s\nwant\n%s", c.DryRun, first, want)
	}
}

// TestCrowdedNodesExample checks that two pods leave the node that is full of pods, and that
// nothing moves if more nodes must be under-utilized.
func TestCrowdedNodesExample(t *testing.T) {
	text, err := os.ReadFile("examples/crowded-nodes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]int{"numberOfNodes: 1": 2, "numberOfNodes: 2": 0} {
		c, err := config.Load("crowded-nodes.yaml", bytes.ReplaceAll(text, []byte("numberOfNodes: 1"), []byte(number)))
		if err != nil {
			t.Fatal(err)
		}
		if p := planFor(t, "examples/crowded-nodes-cluster.yaml", c); len(p.Moves) != want || !c.DryRun {
			t.Errorf("%s: dryRun %t, moves %+v, want %d", number, c.DryRun, p.Moves, want)
		}
	}
}

// TestStalledNodesExample checks that the example selects nodes by a metric that its source measures.
func TestStalledNodesExample(t *testing.T) {
	c, err := config.LoadFile("examples/stalled-nodes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Load.Prometheus.Queries["cpu-stall"]; !ok || !c.DryRun || !strings.Contains(string(c.Strategies[0].Args), `"when":{"cpu-stall":0.2}`) {
		t.Errorf("dryRun %t, queries %v, arguments %s", c.DryRun, c.Load.Prometheus.Queries, c.Strategies[0].Args)
	}
}

// TestBusyNodeExample checks that one large pod leaves the busy node by load, but only with the
// hint. By requests, the node needs no move. It also checks that README.md shows lines of this
// report.
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
		t.Error("README.md shows no line of the report")
	}
	for line := range strings.Lines(excerpt) {
		if !strings.Contains(b.String(), line) {
			t.Errorf("README.md shows a line that the report does not have: %s", line)
		}
	}
	c.DryRun = false
	if p := planFor(t, "examples/busy-node.yaml", c); len(p.Moves) > 0 || p.Rejections.Counts[plan.WouldReturn] != 4 {
		t.Errorf("without the hint: moves %+v, rejections %v; want WouldReturn for all pods", p.Moves, p.Rejections.Counts)
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

// TestModesExample checks that docs/reference/modes.md shows lines of the report of its example.
func TestModesExample(t *testing.T) {
	c, err := config.LoadFile("examples/modes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := planOfExample(t, c)
	if len(p.Moves) > 0 || len(p.Proposals) != 2 || p.ForApproval() == nil || len(p.ForApproval().Moves) != 2 || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v, proposals %+v; want two moves that wait for approval", c.DryRun, p.Moves, p.Proposals)
	}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/reference/modes.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "Plan: ") || strings.HasPrefix(line, "Waiting for ") || strings.HasPrefix(line, "Only shown (") {
			if shown++; !strings.Contains(b.String(), line) {
				t.Errorf("docs/reference/modes.md shows a line that the report does not have: %s", line)
			}
		}
	}
	if shown != 3 {
		t.Errorf("docs/reference/modes.md shows %d lines of the report, want 3", shown)
	}
	for i, mode := range []plan.StrategyMode{plan.Approve, plan.Automatic} { // of zones, if strict is automatic
		strict, err := os.ReadFile("examples/modes.yaml")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(strict), "mode: dryRun", "mode: automatic", 1)
		other, err := config.Load("modes.yaml", []byte(strings.Replace(text, "mode: approve", "mode: "+string(mode), 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range planOfExample(t, other).Moves {
			if m.Strategy == "zones" {
				t.Errorf("case %d: zones moves %s although strict constrains it", i, m.Pod)
			}
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
