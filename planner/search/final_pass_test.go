package search

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// finalPassSearch returns a search after its final pass. One pod on n0 moves to n2, which is then full.
func finalPassSearch(t *testing.T, effort int) *search {
	c := newSmallSearch(t, 3, []string{"n0 a 3", "n0 b 3", "n0 c 3", "n1 d 8", "n2 e 5"},
		func(o *Options) { o.MaxPredictions = effort }, append(halfUsedGoals("cpu", 0, 1), unlimitedGoals("cpu", 2)...)...)
	c.finalPass()
	return c
}

// TestSettlingGoesOnUntilNothingHelps checks that the final pass continues until no further move helps.
// TestSettlingGoesOnUntilNothingHelps claims no goal unless it tried every pod again.
func TestSettlingGoesOnUntilNothingHelps(t *testing.T) {
	all := finalPassSearch(t, 0)
	if len(all.waves.moves) != 1 || !slices.Equal(slices.Sorted(slices.Values(all.finalPassGoals)), []int{0, 1}) {
		t.Fatalf("%d moves, final pass over goals %v; want one move and both goals", len(all.waves.moves), all.finalPassGoals)
	}
	need := *all.sim.predictions
	for effort := 1; effort <= 2*need+9; effort++ {
		c := finalPassSearch(t, effort)
		if _, spent := c.sim.LimitReached(); spent && len(c.finalPassGoals) > 0 {
			t.Errorf("%d predictions: limit reached, but FinalPassGoals is %v", effort, c.finalPassGoals)
		}
		if effort > need+len(c.sim.Snapshot.Pods) && len(c.finalPassGoals) != 2 {
			t.Errorf("%d of %d predictions: FinalPassGoals is %v", effort, need, c.finalPassGoals)
		}
	}
}

// TestSettlingAsksAgainAfterTheMovesOfOthers checks that the final pass tries a goal again after a move for another
// goal: no node has room for pods a and b until c has left n1, but the goal of c has less excess and comes later.
func TestSettlingAsksAgainAfterTheMovesOfOthers(t *testing.T) {
	c := newSmallSearch(t, 3, []string{`n0 a 4,"memory":4Gi`, `n0 b 5,"memory":4Gi`, `n1 c 6,"memory":2Gi`,
		`n2 e 1,"memory":7Gi`}, nil, append(halfUsedGoals("cpu", 0, 1), unlimitedGoals("cpu", 2)...)...)
	if c.finalPass(); len(c.waves.moves) != 2 || c.waves.moves[0].Pod != 2 || c.waves.moves[1].Wave != 2 || len(c.finalPassGoals) > 0 {
		t.Errorf("moves %+v: want c, then a; final pass goals %v", c.waves.moves, c.finalPassGoals)
	}
}

// TestWithinAnEffort checks that the final pass takes whole goals, worst first, while the predictions for all their
// pods fit. TestWithinAnEffort takes none if limits allow no eviction.
func TestWithinAnEffort(t *testing.T) {
	pods := []string{"n0 a 3", "n0 b 3", "n0 c 3", "n1 d 8"}
	c := newSmallSearch(t, 3, pods, nil, halfUsedGoals("cpu", 0, 1)...)
	*c.sim.predictions = 10
	for effort, want := range map[int]int{12: 0, 13: 1, 14: 2} {
		if got := c.rounds.affordableGoals(effort); len(got) != want || want == 1 && c.sim.Goals.Goals[got[0]].Node != 0 {
			t.Errorf("%d predictions: goals %v, want the %d worst goals", effort, got, want)
		}
	}
	none := newSmallSearch(t, 3, pods, func(o *Options) { o.Limits.PerPass = plan.Absolute(0) }, halfUsedGoals("cpu", 0, 1)...)
	if got := none.rounds.affordableGoals(100); len(got) > 0 {
		t.Errorf("limits allow no eviction, but goals %v are affordable", got)
	}
}

// TestSettlingTakesWhatIsLeftOfTheEffort checks that the final pass uses only the remaining predictions, and no more
// than a further attempt may use.
func TestSettlingTakesWhatIsLeftOfTheEffort(t *testing.T) {
	for effort, want := range map[int]int{0: repeatPredictions / 2, 50: 40, repeatPredictions: repeatPredictions / 2} {
		c := newSmallSearch(t, 2, []string{"n0 a 8"}, func(o *Options) { o.MaxPredictions = effort }, halfUsedGoals("cpu", 0)...)
		*c.sim.predictions = 10
		if got := c.sim.finalPassPredictions(); got != want {
			t.Errorf("limits.maxPredictions %d: %d, want %d", effort, got, want)
		}
	}
}

// TestAWaveThatGoesOnFollowsTheLast checks that a new wave has the next number and no pods in flight.
func TestAWaveThatGoesOnFollowsTheLast(t *testing.T) {
	c := finalPassSearch(t, 0)
	c.waves.moves[0].Wave = 4
	if c.waves.openWave(); c.waves.current.number != 5 || c.waves.current.InFlight.Total != 0 {
		t.Errorf("wave %d with %d pods in flight, want wave 5 with none", c.waves.current.number, c.waves.current.InFlight.Total)
	}
}
