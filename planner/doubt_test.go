package planner_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestWhatIsInDoubtIsNoExcessAndNoRoom: the usage over the window and the newest measurement of a node may differ.
// The excess of a goal uses the lower of both values. By the higher of both values, the plan lifts no node above its
// limit.
func TestWhatIsInDoubtIsNoExcessAndNoRoom(t *testing.T) {
	byLoad, plain := 0, 0
	for seed := range uint64(20) {
		o := clusterWithRandomUsage(seed)
		_, p := planRandomCluster(t, o, configByUsage(t))
		plain += movesOf(p, "hot")
		for i := range o.Usage.Nodes {
			n := &o.Usage.Nodes[i]
			n.Newest = map[string]int64{}
			for name, v := range n.Used {
				n.Newest[name] = v * []int64{60, 130, 100, 95}[i%4] / 100
			}
		}
		s, p := planRandomCluster(t, o, configByUsage(t))
		checkWaves(t, seed, s, p)
		checkUsageAfterPlan(t, seed, s, p)
		byLoad += movesOf(p, "hot")
		if n := len(p.Moves); n < p.Bound.MinForPlan {
			t.Errorf("seed %d: %d moves, proven minimum %d", seed, n, p.Bound.MinForPlan)
		}
		before, after := map[string]plan.NodeState{}, map[string]plan.NodeState{}
		for i := range p.Before.Nodes {
			before[p.Before.Nodes[i].Name], after[p.Before.Nodes[i].Name] = p.Before.Nodes[i], p.After.Nodes[i]
		}
		for _, g := range p.Goals {
			if p.After.Excess[g.ID] > p.Before.Excess[g.ID] || p.After.Excess[g.ID] < p.Bound.ResidualByGoal[g.ID] {
				t.Errorf("seed %d: the excess of %s changes from %v to %v, with a proven residual of %v", seed, g.ID,
					p.Before.Excess[g.ID], p.After.Excess[g.ID], p.Bound.ResidualByGoal[g.ID])
			}
			if g.Kind != plan.NodeBelow {
				continue
			}
			name, n := g.Subject.Name, s.NodeByName(g.Subject.Name)
			was, is := before[name].Used[g.Resource], after[name].Used[g.Resource]
			if is > max(was, g.Limit)+2e-4 {
				t.Errorf("seed %d: %s ends at %v of its %s by the higher value, from %v, above the limit %v", seed, name, is, g.Resource, was, g.Limit)
			}
			total := float64(n.Allocatable.Get(g.Resource))
			lower := was - float64(s.Usage.Uncertain(n.ID, g.Resource))/total
			if excess := max(0, lower-g.Limit); p.Before.Excess[g.ID] > excess+2e-4 {
				t.Errorf("seed %d: %s has an excess of %v in %s, but its lower value is %v above the limit", seed, name,
					p.Before.Excess[g.ID], g.Resource, excess)
			}
		}
	}
	t.Logf("%d moves by load, %d where nothing is in doubt", byLoad, plain)
	if byLoad < 10 || byLoad >= plain {
		t.Errorf("only %d moves by load, and %d with certain usage", byLoad, plain)
	}
}

func movesOf(p plan.Plan, strategy string) int {
	n := 0
	for _, m := range p.Moves {
		if m.Strategy == strategy {
			n++
		}
	}
	return n
}
