package search

import (
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// TestHintsThatSpoilALandingLeaveTheWaveUnchanged: with hints, the second move of a wave has no acceptable landing any
// more. The wave then has the moves, the hints, the states and the goals from before.
func TestHintsThatSpoilALandingLeaveTheWaveUnchanged(t *testing.T) {
	c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3", "n0 c 3"}, func(o *Options) { o.Steer = hints.Taint },
		append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
	for pod := range cluster.PodID(2) {
		if a, why := c.waves.join(c.waves.moveFor(pod, 0), 0); a != Admitted {
			t.Fatalf("pod %d: %v, %+v", pod, a, why)
		}
	}
	before, places, goals := slices.Clone(c.waves.current.steps), placesOf(c), c.sim.Goals.Clone().Measures
	may := c.sim.MayTake(2)
	may[1], may[2] = false, false    // no landing is acceptable any more
	may[before[0].Landing.To] = true // but that of the first move is
	third := Step{Move: c.sim.MoveOf(2, limits.NoStrategy), From: 0, goal: 0}
	if c.waves.addHints(append(slices.Clone(before), third), []cluster.NodeID{3 - before[0].Landing.To}) {
		t.Fatal("addHints accepted a landing on a node that is not Ready")
	}
	if got := placesOf(c); !slices.Equal(got, places) || len(c.waves.current.steps) != 2 || len(c.waves.current.hinted) != 0 || len(c.waves.current.members) != 2 {
		t.Errorf("places %v, want %v; %d steps, hints %v, members %v", got, places, len(c.waves.current.steps), c.waves.current.hinted, c.waves.current.members)
	}
	if !reflect.DeepEqual(c.sim.Goals.Measures, goals) {
		t.Error("the goals count moves that were undone")
	}
}

// TestHintsKeepTheStrategyOfAMove: with hints, a move may land where it improves only goals of
// another strategy. The wave then stays without these hints.
func TestHintsKeepTheStrategyOfAMove(t *testing.T) {
	for strategy, want := range map[int]bool{0: true, 1: false} {
		c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3", "n0 c 3"}, func(o *Options) { o.Steer = hints.Taint },
			append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
		if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted {
			t.Fatalf("%v, %+v", a, why)
		}
		c.account.strategyOfGoal = make([]int, len(c.account.goals)) // of strategy 0
		all := slices.Clone(c.waves.current.steps)
		all[0].Strategy = strategy
		if got := c.waves.addHints(all, []cluster.NodeID{3 - all[0].Landing.To}); got != want {
			t.Errorf("a move for strategy %d that improves a goal of strategy 0: addHints returned %v", strategy, got)
		}
	}
}

// placesOf returns the nodes of all pods in the states of the wave.
func placesOf(c *search) (out []cluster.NodeID) {
	for _, s := range c.waves.current.states() {
		for pod := range s.Snapshot.Pods {
			out = append(out, s.Model.Cluster.NodeOf(cluster.PodID(pod)))
		}
	}
	return out
}
