package planverifier_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestStatedGoalsBreakNoRule plans for random goals of the kinds that no strategy of the settings states, together with
// the goals of these strategies.
func TestStatedGoalsBreakNoRule(t *testing.T) {
	t.Parallel()
	kinds := []plan.GoalKind{plan.PodAway, plan.CountAtMost}
	moves, returns, bad := map[plan.GoalKind]int{}, 0, 0
	for seed := uint64(0); seed < 200; seed++ {
		r := rand.New(rand.NewPCG(seed, 18))
		o := simulation.Mixed(r)
		conf := must.Get(config.Load("seed.yaml", []byte(simulation.Settings(r))))(t)
		s := must.Get(cluster.New(o))(t)
		opts, rules := conf.PlannerOptions(), verifierRules(t, conf)
		opts.SamplesPerCode = -1
		kind := kinds[seed%2]
		stated := slices.DeleteFunc(simulation.RandomGoals(r, s, kind), func(g plan.Goal) bool {
			return g.NotCounted != nil // a plan does not say which nodes do not count
		})
		goals := slices.Concat(controller.Goals(s, conf.BuildStrategies(), nil), stated)
		p := planner.New(opts).Plan(s, plan.PlannerState{}, goals, o.TakenAt)
		for _, m := range p.Moves {
			if m.Strategy == string(kind) {
				moves[kind]++
			}
			if m.From == m.To {
				returns++
			}
		}
		for _, v := range planverifier.Check(o, rules, p, o.TakenAt) {
			if bad++; bad < 10 {
				t.Errorf("seed %d: %+v", seed, v)
			}
		}
	}
	t.Logf("moves by kind %v, of which %d return", moves, returns)
	if moves[plan.PodAway] < 100 || moves[plan.CountAtMost] < 30 {
		t.Errorf("moves by kind %v, want at least 100 and 30", moves)
	}
}
