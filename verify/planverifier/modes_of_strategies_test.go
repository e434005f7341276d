package planverifier_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/verify/modeverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

var combinedPlans = flag.Int("combined-plans", 500, "number of random plans with modes and rules of strategies together")

// makeCombinedCase is makeModeCase with random modes, scopes, limits, guards, weights and softness of the strategies.
func makeCombinedCase(t testing.TB, seed uint64) modeCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 50))
	o, past := randomClusterAndState(r, seed, 8, "hot", "zones", "warm", "cool", "")
	text := strings.Replace(simulation.StrategySettings(r), "strategies:\n", fmt.Sprintf(
		"strategies:\n  cool: {type: NodeLoad, schedule: \"0 * * * *\", limits: {perPass: %d}, args: {target: {cpu: 0.%d}}}\n",
		1+r.IntN(4), 2+r.IntN(5)), 1)
	text = strategyLine.ReplaceAllStringFunc(text, func(line string) string {
		return withMode(line, []string{"automatic", "automatic", "approve", "dryRun"}[r.IntN(4)])
	})
	text = inFlightTotal.ReplaceAllString(text, fmt.Sprintf("inFlight: {total: %d,", []int{3, 8}[seed%2]))
	m := newCombinedCase(t, o, text, past)
	m.plan = m.planFor(m.conf.BuildStrategies(), nil)
	return m
}

// randomClusterAndState returns a crowded cluster for even seeds, and otherwise any cluster with a state of earlier
// passes of these strategies. A crowded cluster has at least so many workloads.
func randomClusterAndState(r *rand.Rand, seed uint64, workloads int, strategies ...string) (*cluster.Objects, plan.PlannerState) {
	o := simulation.Mixed(r)
	if seed%2 == 0 {
		return simulation.Crowded(r, 6+r.IntN(3), 6+r.IntN(5), workloads+r.IntN(8)), plan.PlannerState{}
	}
	past := simulation.RandomState(r, o)
	for i := range past.Evictions {
		past.Evictions[i].Strategy = strategies[r.IntN(len(strategies))]
	}
	past.Sort()
	return o, past
}

// newCombinedCase returns a case for the settings without a plan, with the rules of modes and strategies.
func newCombinedCase(t testing.TB, o *cluster.Objects, text string, past plan.PlannerState) modeCase {
	t.Helper()
	conf, err := config.Load("seed.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	s, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	m := modeCase{o, modeRules(t, conf), plan.Plan{}, s, conf, past, text}
	m.rules.Plan.State, m.rules.Plan.Strategies = past, strategyRules(t, conf)
	m.rules.Spreads = slices.DeleteFunc(m.rules.Spreads, func(of modeverifier.Spread) bool { // these count other pods
		i := slices.IndexFunc(conf.Strategies, func(s config.Strategy) bool { return s.Name == of.Strategy })
		s := conf.Strategies[i]
		return s.NodeSelector != "" || s.Namespaces != nil || s.PodSelector != ""
	})
	return m
}

// withoutShown returns the automatic moves of a configuration without the dryRun strategies and their rules.
func (m modeCase) withoutShown() []plan.Move {
	opts := m.conf.PlannerOptions()
	opts.SamplesPerCode = -1
	opts.Strategies = slices.DeleteFunc(opts.Strategies, func(s eligibility.Strategy) bool { return s.Mode == plan.ShowOnly })
	executed := slices.DeleteFunc(m.conf.BuildStrategies(), func(s schedule.Strategy) bool { return s.Mode == plan.ShowOnly })
	return planner.New(opts).Plan(m.snapshot, m.past, controller.Goals(m.snapshot, executed, nil), m.o.TakenAt).Moves
}

// TestNoPlanBreaksItsModesOrARuleOfAStrategy makes random plans for strategies in random modes with
// random scopes, limits, guards, weights and softness.
func TestNoPlanBreaksItsModesOrARuleOfAStrategy(t *testing.T) {
	t.Parallel()
	moves, bad := map[string]int{}, 0
	for seed := range uint64(*combinedPlans) {
		m := makeCombinedCase(t, seed)
		parts := append([]plan.Proposal{{Mode: plan.Automatic, Plan: m.plan}}, m.plan.Proposals...)
		for _, of := range parts {
			part := string(of.Mode)
			if len(m.plan.Moves) > 0 && of.Mode != plan.Automatic {
				part += " after automatic"
			}
			moves[part] += len(of.Plan.Moves)
			for _, x := range of.Plan.Moves {
				if slices.ContainsFunc(m.rules.Plan.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == x.Strategy && s.Soft }) {
					moves["soft "+string(of.Mode)]++
				}
			}
			if b := of.Plan.Bound; b.MinForPlan > len(of.Plan.Moves) {
				t.Errorf("seed %d, %s: the bound of the plan is %d evictions, but it has %d moves", seed, of.Mode, b.MinForPlan, len(of.Plan.Moves))
			}
		}
		for _, v := range modeverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
		if seed%8 < 2 {
			m.checkIndependence(t, seed)
			if d := cmp.Diff(m.plan.Moves, m.withoutShown()); d != "" {
				t.Errorf("seed %d: the automatic moves differ without the dryRun strategies (-was +now):\n%s", seed, d)
			}
		}
	}
	t.Logf("%d plans, %d violations, moves: %v", *combinedPlans, bad, moves)
	for part, least := range map[string]int{"automatic": 250, "approve after automatic": 25, "dryRun after automatic": 40, "soft automatic": 30,
		"soft approve": 8, "soft dryRun": 20} {
		if moves[part] < least {
			t.Errorf("%s: %d moves, want at least %d", part, moves[part], least)
		}
	}
}
