package compare_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/compare"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// everyStrategy is a configuration with one strategy for each plugin that reads no usage.
const everyStrategy = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  spread: {type: TopologySpread, schedule: "@hourly"}
  duplicates: {type: Duplicates, schedule: "@hourly"}
  apart: {type: InterPodAntiAffinity, schedule: "@hourly"}
  hot: {type: NodeLoad, schedule: "@hourly", args: {target: {cpu: 0.6, memory: 0.6}}}
  restarts: {type: Restarts, schedule: "@hourly", args: {minRestarts: 5}}
  affinity: {type: NodeAffinity, schedule: "@hourly"}
  taints: {type: NodeTaints, schedule: "@hourly"}
`

// TestComparisonAgreesWithThePlan compares the plans for random clusters with the same configuration. Each goal that
// the plan lists must be a violation with the plan's own excess after the moves, each move must occur, and nothing is
// left because no strategy looks at it.
func TestComparisonAgreesWithThePlan(t *testing.T) {
	c := must.Get(config.Load("config.yaml", []byte(everyStrategy)))(t)
	o := c.PlannerOptions()
	o.SamplesPerCode = -1
	checked, moved := 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		objects := simulation.Uneven(r, 12, 90)
		simulation.AddViolations(r, objects)
		simulation.AddAntiAffinity(r, objects)
		s := must.Get(cluster.New(objects))(t)
		p := planner.New(o).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
		own := strategiesOf(c, s)
		out := compare.Compare(compare.Input{Snapshot: s, Plan: p, Own: own, Policy: own})
		n := checkAgreement(t, seed, p, out)
		checked, moved = checked+n, moved+len(p.Moves)
	}
	if checked < 100 || moved < 50 {
		t.Errorf("only %d goals and %d moves were compared", checked, moved)
	}
}

func strategiesOf(c *config.Config, s *cluster.Snapshot) (out []compare.Strategy) {
	for i, st := range c.BuildStrategies() {
		out = append(out, compare.Strategy{Name: st.Name, Type: c.Strategies[i].Type, Goals: st.Goals(s)})
	}
	return out
}

// goalKey identifies a goal in both documents.
func goalKey(g *plan.Goal) string {
	return fmt.Sprint(g.Strategy, " ", g.Kind, " ", g.Subject, " ", g.Group, " ", g.Resource, " ", g.TopologyKey, " ", g.From)
}

// checkAgreement returns the number of compared goals.
func checkAgreement(t *testing.T, seed uint64, p plan.Plan, c plan.Comparison) (n int) {
	t.Helper()
	violations := map[string]*plan.Violation{}
	found := 0
	for i := range c.Violations {
		v := &c.Violations[i]
		violations[goalKey(&v.Goal)] = v
		if v.Result == plan.ViolationCaused {
			t.Errorf("seed %d: the plan causes %s, although its own goals forbid it", seed, goalKey(&v.Goal))
			continue
		}
		found++
		if !slices.Contains(v.Strategies, v.Goal.Strategy) {
			t.Errorf("seed %d: %s: strategies %v", seed, goalKey(&v.Goal), v.Strategies)
		}
		if left := v.Result == plan.ViolationLeft; left != (v.ExcessAfter > 0) || left != (v.Reason != nil) ||
			left && (v.Reason.Code == plan.NoStrategyForThis || v.Reason.Code == plan.AllowedByStrategy) {
			t.Errorf("seed %d: %s: %s, excess after %v, reason %v", seed, goalKey(&v.Goal), v.Result, v.ExcessAfter, v.Reason)
		}
	}
	unlisted, _ := p.UnlistedGoals()
	if found != len(p.Goals)+unlisted {
		t.Errorf("seed %d: %d violations, want the %d unmet goals of the plan", seed, found, len(p.Goals)+unlisted)
	}
	for i := range p.Goals {
		g := &p.Goals[i]
		v := violations[goalKey(g)]
		if v == nil {
			t.Errorf("seed %d: no violation for %s", seed, goalKey(g))
			continue
		}
		n++
		if v.Goal.Excess != g.Excess || plan.Round(v.ExcessAfter) != plan.Round(p.After.Excess[g.ID]) {
			t.Errorf("seed %d: %s: excess %v, then %v; want %v and %v", seed, goalKey(g), v.Goal.Excess, v.ExcessAfter, g.Excess, p.After.Excess[g.ID])
		}
	}
	for _, m := range p.Moves {
		if m.DisplacedFor == nil && !slices.ContainsFunc(c.Violations, func(v plan.Violation) bool {
			return slices.ContainsFunc(v.Moves, func(x plan.ViolationMove) bool { return x.Pod == m.Pod && x.To == m.To })
		}) {
			t.Errorf("seed %d: no violation names the move of %s", seed, m.Pod)
		}
	}
	return n
}
