package search

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// TestARefusalHoldsUntilTheNextMove checks that the rejection of a move is cached until another move is made. n1 has no
// room for p0 until p2 has left n1.
func TestARefusalHoldsUntilTheNextMove(t *testing.T) {
	c := newSmallSearch(t, 3, []string{"n0 a 4", "n0 b 4", "n1 c 7", "n2 d 3"}, nil,
		append(halfUsedGoals("cpu", 0), unlimitedGoals("cpu", 1, 2)...)...)
	c.sim.move(3, 1) // n1 is full; no pod is sent to n2
	may := c.sim.MayTake(0)
	may[2], may[1] = false, true
	_, first, a := kinds[Relocate].rules.land(c.waves.current, Move{Pod: 0, Strategy: limits.NoStrategy})
	if a != Refused || first.Code == "" {
		t.Fatalf("%v, %+v: want a refusal", a, first)
	}
	world, asked := c.sim.Model, *c.sim.predictions
	c.sim.Model = nil // a prediction would panic
	if _, again, a := kinds[Relocate].rules.land(c.waves.current, Move{Pod: 0, Strategy: limits.NoStrategy}); a != Refused || again != first || *c.sim.predictions != asked+1 {
		t.Errorf("%v, %+v after %d predictions; want the cached rejection after one prediction", a, again, *c.sim.predictions-asked)
	}
	c.sim.Model = world
	c.sim.move(2, 2)
	if l, why, a := kinds[Relocate].rules.land(c.waves.current, Move{Pod: 0, Strategy: limits.NoStrategy}); a != Admitted || l.To != 1 {
		t.Errorf("%v, %+v: want a landing on n1, which has room now", a, why)
	}
}

// TestWhatHintsMayChangeIsNotRemembered checks that the cache stays empty when steering is enabled, and that a move
// invalidates it.
func TestWhatHintsMayChangeIsNotRemembered(t *testing.T) {
	why := plan.Reason{Code: plan.NoTargetFits}
	for _, steer := range []hints.Kind{hints.None, hints.Taint} {
		for _, many := range []int{2, 2 * maxCleared} {
			c := newSmallSearch(t, 2, []string{"n0 a 1", "n0 b 1"}, func(o *Options) { o.Steer = steer }, halfUsedGoals("cpu", 0)...)
			for i := range many {
				c.waves.current.unlandable.add(c.sim, cluster.PodID(i), why)
			}
			if got, known := c.waves.current.unlandable.of(c.sim, 0); known != (steer == hints.None) || known && got != why {
				t.Errorf("steer %s: %v, %+v", steer, known, got)
			}
			c.sim.move(0, 1)
			if _, known := c.waves.current.unlandable.of(c.sim, 1); known {
				t.Errorf("steer %s: the rejection is still cached after a move", steer)
			}
			c.waves.current.unlandable.add(c.sim, 1, why)
			if _, known := c.waves.current.unlandable.of(c.sim, 0); known {
				t.Errorf("steer %s: a rejection from before the move is cached again", steer)
			}
		}
	}
}

// TestUnlikelyLandings checks that a pod whose landing is refused far below minConfidence in a large cluster is no
// candidate until a pod of its workload moves, or the search starts anew or makes its final pass.
func TestUnlikelyLandings(t *testing.T) {
	for _, steer := range []hints.Kind{hints.None, hints.Taint} {
		c := newSmallSearch(t, 250, []string{"n0 a 3", "n0 a 3", "n0 a 3"}, func(o *Options) { o.Steer = steer }, halfUsedGoals("cpu", 0)...)
		c.waves.scope, c.rounds.round = anyGoal, 1
		isCandidate := func(pod cluster.PodID) bool {
			return slices.ContainsFunc(c.rounds.candidates(0), func(x candidate) bool { return x.pod == pod })
		}
		refuse := func() {
			t.Helper()
			may := c.sim.MayTake(1)
			saved := slices.Clone(may)
			clear(may)
			may[7] = true   // of 249 nodes that may win
			c.sim.version++ // else unlandable knows the refusal
			if a, why := c.waves.join(c.waves.moveFor(1, 0), 0); a != Refused {
				t.Fatalf("%v, %+v: want a refusal", a, why)
			}
			copy(may, saved)
			if steer == hints.None == isCandidate(1) {
				t.Fatalf("steer %s: p1 is a candidate: %t", steer, isCandidate(1))
			}
		}
		refuse()
		if a, why := c.waves.join(c.waves.moveFor(0, 0), 0); a != Admitted || !isCandidate(1) {
			t.Fatalf("steer %s: %v, %+v: p1 is not a candidate after the move of p0", steer, a, why)
		}
		refuse()
		if c.waves.openWave(); !isCandidate(1) {
			t.Error("p1 is not a candidate in a new part of the search")
		}
		refuse()
		if c.rounds.restart(); !isCandidate(1) {
			t.Error("p1 is not a candidate in the next attempt")
		}
		refuse()
		if c.finalPass(); !c.waves.moved[1] && !c.waves.moved[2] {
			t.Error("the final pass moved neither p1 nor p2")
		}
	}
	small, large := newSmallSearch(t, 200, []string{"n0 a 3"}, nil, halfUsedGoals("cpu", 0)...), newSmallSearch(t, 201, []string{"n0 a 3"}, nil, halfUsedGoals("cpu", 0)...)
	sampled := &prediction.Prediction{Gone: prediction.State{SampleSize: 100}}
	for _, x := range []struct {
		in         *search
		confidence float64
		predicted  *prediction.Prediction
		want       bool
	}{{large, 0.84, sampled, true}, {large, 0.86, sampled, false}, {large, 0, &prediction.Prediction{}, false}, {large, 0, nil, false}, {small, 0.84, sampled, false}} {
		if l := (Landing{Confidence: x.confidence, predicted: x.predicted}); x.in.waves.isUnlikely(&l) != x.want {
			t.Errorf("%+v: want %t", x, x.want)
		}
	}
}
