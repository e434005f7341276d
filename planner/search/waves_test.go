package search

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// TestAPodWhoseHintsSpoilAnotherLandingJoinsLater: p0 needs much memory, so only n1 and its own node have room for it.
// p1 must not land on n1, and needs a hint on it. With this hint, the replacement of p0 would return.
func TestAPodWhoseHintsSpoilAnotherLandingJoinsLater(t *testing.T) {
	goals := append(halfUsedGoals("cpu", 0, 1), unlimitedGoals("cpu", 2)...)
	goals[1].Limit = 0.4 // p0 requests 1 of 10 CPUs, and p1 requests 5
	c := newSmallSearch(t, 3, []string{`n0 a 1,"memory":4Gi`, "n0 b 5", `n0 c 3,"memory":2Gi`, `n2 d 2,"memory":7Gi`},
		func(o *Options) { o.Steer = hints.Taint }, goals...)
	c.waves.scope = anyGoal
	c.waves.current.mayHint = true
	if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted || c.waves.current.steps[0].Landing.To != 1 {
		t.Fatalf("p0: %v, %+v", a, why)
	}
	if l, why, a := kinds[Relocate].rules.land(c.waves.current, Move{Pod: 1, Strategy: limits.NoStrategy}); a != Admitted || len(l.Hinted) != 1 || l.Hinted[0] != 1 {
		t.Fatalf("p1: %v, %+v, hints %v; want a hint on n1", a, why, l.Hinted)
	}
	if a, why := c.waves.join(c.waves.moveFor(1, 0), 0); a != Later || len(c.waves.moves) != 1 || c.waves.current.InFlight.Total != 1 {
		t.Errorf("p1: %v, %+v; %d moves, %d pods in flight", a, why, len(c.waves.moves), c.waves.current.InFlight.Total)
	}
}

// TestTheFirstMoveOfAWaveIsPredictedOnce: before it, all states of the wave are equal.
func TestTheFirstMoveOfAWaveIsPredictedOnce(t *testing.T) {
	c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3"}, func(o *Options) { o.Steer = hints.Taint },
		append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
	if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted {
		t.Fatalf("%v, %+v", a, why)
	}
	before := *c.sim.predictions
	if !c.waves.addHints(c.waves.current.steps, nil) || *c.sim.predictions != before+1 {
		t.Errorf("%d predictions, want one", *c.sim.predictions-before)
	}
}

// TestAMoveCountsItsAcceptableNodes checks that the landing has the number of acceptable nodes: two for p0.
func TestAMoveCountsItsAcceptableNodes(t *testing.T) {
	c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3"}, nil,
		append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
	if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted || c.waves.moves[0].Landing.Acceptable != 2 {
		t.Errorf("%v, %+v: moves %+v", a, why, c.waves.moves)
	}
}

// TestTheOnlyMoveIsDroppedIfItIsNeedless checks that dropLast drops the move of p0 only after p1 has left n0, because
// the goal is then met without it.
func TestTheOnlyMoveIsDroppedIfItIsNeedless(t *testing.T) {
	c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3"}, nil,
		append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
	if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted {
		t.Fatalf("%v, %+v", a, why)
	}
	c.waves.closeWave()
	if c.waves.dropLast(); len(c.waves.moves) != 1 {
		t.Fatal("dropped a move that the goal needs")
	}
	c.sim.Goals.Move(1, 0, 2)
	if c.waves.dropLast(); len(c.waves.moves) != 0 || c.sim.Model.Cluster.NodeOf(0) != 0 {
		t.Errorf("%d moves remain, and p0 is on node %d", len(c.waves.moves), c.sim.Model.Cluster.NodeOf(0))
	}
}

// TestARefusalByAnEmptyWaveHasAReason checks that a wave without moves gives a reason code when it refuses a move. Here
// it refuses the move because no pod may be in flight.
func TestARefusalByAnEmptyWaveHasAReason(t *testing.T) {
	c := newSmallSearch(t, 2, []string{"n0 a 8"}, func(o *Options) { o.InFlight.Total = 0 },
		halfUsedGoals("cpu", 0)...)
	if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Refused || why.Code != plan.UncertainLanding {
		t.Errorf("%v, %+v", a, why)
	}
}
