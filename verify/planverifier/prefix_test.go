package planverifier_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// makePlanFor makes a plan for the cluster and returns it with the verifier's rules for the same configuration.
func makePlanFor(t testing.TB, o *cluster.Objects, text string, now time.Time, past plan.PlannerState) (plan.Plan, planverifier.Rules) {
	t.Helper()
	conf := must.Get(config.Load("seed.yaml", []byte(text)))(t)
	s := must.Get(cluster.New(o))(t)
	opts := conf.PlannerOptions()
	opts.SamplesPerCode = -1
	rules := verifierRules(t, conf)
	rules.State = past
	return planner.New(opts).Plan(s, past, controller.Goals(s, conf.BuildStrategies(), nil), now), rules
}

// TestPlansAfterAnyPrefix interrupts a plan after a random number of evictions, in a random order within each
// wave. At that moment, evicted pods are still terminating and replacements are Pending. A second plan for that
// cluster must break no rule. A single plan cannot exceed a budget in this way; two plans together can.
func TestPlansAfterAnyPrefix(t *testing.T) {
	t.Parallel()
	const wanted = 600
	starts, withMoves, moves, bad := 0, 0, 0, 0
	for seed := uint64(0); starts < wanted; seed++ {
		r := rand.New(rand.NewPCG(seed, 32))
		o := simulation.Mixed(r)
		text := simulation.Settings(r)
		past := simulation.RandomState(r, o)
		first, rules := makePlanFor(t, o, text, o.TakenAt, past)
		for calls := 1; calls <= len(first.Moves) && starts < wanted; calls += 1 + r.IntN(3) {
			starts++
			course := planverifier.CallOrder{Order: r.Perm, LateStatus: r.IntN(2) == 0, MaxCalls: calls}
			later := o.TakenAt.Add(time.Duration(1+r.IntN(150)) * time.Second)
			half := planverifier.ClusterAfter(o, rules, first, o.TakenAt, course)
			half.TakenAt = later
			// The controller reserves a whole wave before its first eviction.
			cut := 0
			for _, m := range first.Moves[:calls] {
				cut = max(cut, m.Wave)
			}
			n := calls
			for n < len(first.Moves) && first.Moves[n].Wave == cut {
				n++
			}
			rules.State = history.Reserve(past, plan.OpenRun{RunID: "first"}, first.Moves[:n], o.TakenAt)
			next, _ := makePlanFor(t, half, text, later, rules.State)
			if len(next.Moves) > 0 {
				withMoves++
			}
			moves += len(next.Moves)
			found := planverifier.Check(half, rules, next, later)
			found = append(found, planverifier.Replay(half, rules, next, later, planverifier.CallOrder{Order: r.Perm})...)
			for _, v := range found {
				if bad++; bad <= 20 {
					t.Errorf("seed %d after %d calls: step %d, pod %s: %s: %s", seed, calls, v.Step, v.Pod, v.Code, v.Detail)
				}
			}
		}
	}
	t.Logf("%d plans after an interrupted plan, %d with moves, %d moves, %d violations", starts, withMoves, moves, bad)
	if withMoves < wanted/4 {
		t.Errorf("%d of %d second plans have moves, which is too few for this test", withMoves, starts)
	}
}
