package examples

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestSteeringExampleSteers checks that the example plans a second move only with steering.
func TestSteeringExampleSteers(t *testing.T) {
	c := load(t, "examples/steering.yaml")
	p := planOfExample(t, c)
	if len(p.Moves) != 2 || !p.Moves[1].Steered() || !slices.Equal(p.HintsForWave(2).Nodes, []string{"n3"}) || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v, hints %+v; want a second move that is steered by a hint on n3", c.DryRun, p.Moves, p.Hints)
	}
	c.Evictor.Steer = "none"
	if p := planOfExample(t, c); len(p.Moves) != 1 || len(p.Hints) != 0 {
		t.Errorf("without steering: %d moves, hints %v; want one move", len(p.Moves), p.Hints)
	}
}

// TestConsolidationExample checks that the example empties two nodes, and that the budget of queue keeps the third.
func TestConsolidationExample(t *testing.T) {
	c := load(t, "examples/consolidation.yaml")
	shown := reportOf(t, planFor(t, "examples/consolidation-cluster.yaml", c))
	const want = "Plan: 2 nodes emptied by 3 evictions; 1 node with few requests stays; lower bound 3; dry run: nothing is evicted."
	if !strings.Contains(shown, want+"\n") || !c.DryRun {
		t.Errorf("dryRun %t, the report is\n%s\nwant\n%s", c.DryRun, shown, want)
	}
}

// TestCrowdedNodesExample checks that the plan moves two pods off the node that has almost as many pods as it may
// have. With numberOfNodes: 2 it moves no pod, because at most two nodes are under-utilized.
func TestCrowdedNodesExample(t *testing.T) {
	text := readText(t, "examples/crowded-nodes.yaml")
	for number, want := range map[string]int{"numberOfNodes: 1": 2, "numberOfNodes: 2": 0} {
		c := must.Get(config.Load("crowded-nodes.yaml", []byte(strings.ReplaceAll(text, "numberOfNodes: 1", number))))(t)
		if p := planFor(t, "examples/crowded-nodes-cluster.yaml", c); len(p.Moves) != want || !c.DryRun {
			t.Errorf("%s: dryRun %t, moves %+v, want %d", number, c.DryRun, p.Moves, want)
		}
	}
}

// TestStalledNodesExample checks that the example selects nodes by a metric that its source measures.
func TestStalledNodesExample(t *testing.T) {
	c := load(t, "examples/stalled-nodes.yaml")
	if _, ok := c.Load.Prometheus.Queries["cpu-stall"]; !ok || !c.DryRun || !strings.Contains(string(c.Strategies[0].Args), `"when":{"cpu-stall":0.2}`) {
		t.Errorf("dryRun %t, queries %v, arguments %s", c.DryRun, c.Load.Prometheus.Queries, c.Strategies[0].Args)
	}
}

// TestBusyNodeExample checks that one large pod leaves the busy node by load, but only with the
// hint. By requests, the node needs no move.
func TestBusyNodeExample(t *testing.T) {
	c := load(t, "examples/by-load.yaml")
	p := planFor(t, "examples/busy-node.yaml", c)
	if len(p.Moves) != 1 || p.Moves[0].Pod.Name != "big-6c8f-00" || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v; want one, of big-6c8f-00", c.DryRun, p.Moves)
	}
	c.DryRun = false
	if p := planFor(t, "examples/busy-node.yaml", c); len(p.Moves) > 0 || p.Rejections.Counts[plan.WouldReturn] != 4 {
		t.Errorf("without the hint: moves %+v, rejections %v; want WouldReturn for all pods", p.Moves, p.Rejections.Counts)
	}
	builtIn := must.Get(config.Load("config.yaml", evenkeel.DefaultConfig))(t)
	for _, m := range planFor(t, "examples/busy-node.yaml", builtIn).Moves {
		if m.Reason.Code == plan.NodeOverUtilized {
			t.Errorf("by requests: %+v; want no move for a node", m)
		}
	}
}

// TestModesExample checks that docs/reference/approvals.md shows lines of the report of its example.
func TestModesExample(t *testing.T) {
	c := load(t, "examples/modes.yaml")
	p := planOfExample(t, c)
	if len(p.Moves) > 0 || len(p.Proposals) != 2 || p.ForApproval() == nil || len(p.ForApproval().Moves) != 2 || !c.DryRun {
		t.Errorf("dryRun %t, moves %+v, proposals %+v; want two moves that wait for approval", c.DryRun, p.Moves, p.Proposals)
	}
	printed := reportOf(t, p)
	page := readText(t, "docs/reference/approvals.md")
	shown := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "  What would happen?  Plan: ") || strings.HasPrefix(line, "Waiting for ") || strings.HasPrefix(line, "Only shown (") {
			if shown++; !strings.Contains(printed, line) {
				t.Errorf("docs/reference/approvals.md shows a line that the report does not have: %s", line)
			}
		}
	}
	if shown != 3 {
		t.Errorf("docs/reference/approvals.md shows %d lines of the report, want 3", shown)
	}
	for i, mode := range []plan.StrategyMode{plan.Approve, plan.Automatic} { // of zones, if strict is automatic
		strict := readText(t, "examples/modes.yaml")
		text := strings.Replace(strict, "mode: dryRun", "mode: automatic", 1)
		other := must.Get(config.Load("modes.yaml", []byte(strings.Replace(text, "mode: approve", "mode: "+string(mode), 1))))(t)
		for _, m := range planOfExample(t, other).Moves {
			if m.Strategy == "zones" {
				t.Errorf("case %d: zones moves %s although strict constrains it", i, m.Pod)
			}
		}
	}
}
