package search

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// TestExhaustedStrategyEndsTheSearch limits the evictions of a pass, once for all strategies and
// once for the only strategy with unmet goals. The search makes the same moves with as many
// predictions.
func TestExhaustedStrategyEndsTheSearch(t *testing.T) {
	pods := []string{"n0 a 1", "n0 b 1", "n0 c 1", "n0 d 1", "n0 e 1", "n0 f 1", "n0 g 1", "n0 h 1", "n1 i 5", "n2 j 4", "n3 k 4"}
	for most := range 3 {
		run := func(change func(o *Options)) *search {
			goals := append(halfUsedGoals("cpu", 0, 1), unlimitedGoals("cpu", 2, 3)...)
			for i := range goals {
				goals[i].Strategy = "hot"
			}
			c := newSmallSearch(t, 4, pods, func(o *Options) {
				o.Strategies = []eligibility.Strategy{{Name: "hot"}, {Name: "idle", Own: &eligibility.StrategyRules{}}}
				change(o)
			}, goals...)
			c.run()
			return c
		}
		ofAll := run(func(o *Options) { o.Limits.PerPass = plan.Absolute(most) })
		ofOne := run(func(o *Options) {
			own := o.Limits
			own.PerPass = plan.Absolute(most)
			o.Strategies[0].Own = &eligibility.StrategyRules{Limits: &own}
		})
		if len(ofAll.waves.moves) != most || len(ofOne.waves.moves) != most {
			t.Fatalf("%d and %d moves, want %d", len(ofAll.waves.moves), len(ofOne.waves.moves), most)
		}
		for i := range ofAll.waves.moves {
			if ofAll.waves.moves[i].Pod != ofOne.waves.moves[i].Pod {
				t.Errorf("limit %d: move %d is of pod %d, want %d", most, i, ofOne.waves.moves[i].Pod, ofAll.waves.moves[i].Pod)
			}
		}
		if *ofOne.sim.predictions != *ofAll.sim.predictions {
			t.Errorf("limit %d: %d predictions with the limit of the strategy, %d with that of all", most, *ofOne.sim.predictions,
				*ofAll.sim.predictions)
		}
	}
}
