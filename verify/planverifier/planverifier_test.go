package planverifier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// plans is the number of random plans. wantedWithMoves and wantedMoves are the minimum for a meaningful test.
const (
	plans           = 1000
	wantedWithMoves = 600
	wantedMoves     = 2800
)

// planCase is a random cluster with a random configuration, and the plan for both.
type planCase struct {
	o     *cluster.Objects
	rules planverifier.Rules
	plan  plan.Plan
}

func makeCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 30))
	o := simulation.Mixed(r)
	text := simulation.Settings(r)
	p, rules := makePlanFor(t, o, text, o.TakenAt, simulation.RandomState(r, o))
	return planCase{o, rules, p}
}

// callOrders returns the tested orders of evictions by name. Within a wave, the pods are evicted as
// planned, in reverse or at random. The disruption controller updates budgets at once or late, and
// replacements become Ready early or late.
func callOrders(r *rand.Rand) map[string]planverifier.CallOrder {
	backward := func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = n - 1 - i
		}
		return out
	}
	sometimes := func() bool { return r.IntN(3) == 0 }
	return map[string]planverifier.CallOrder{
		"as planned": {}, "as planned, late": {LateStatus: true},
		"backward": {Order: backward}, "backward, late": {Order: backward, LateStatus: true},
		"any order": {Order: r.Perm, EarlyReplacement: sometimes}, "any order, late": {Order: r.Perm, EarlyReplacement: sometimes,
			LateStatus: true},
	}
}

// codesNeverRejected lists the guard codes that never occur as a rejection in a plan. Terminal pods
// and pods without a node cannot help a goal.
var codesNeverRejected = []plan.Code{plan.PodTerminal, plan.PodNotBound}

// TestNoPlanBreaksARule makes a thousand random plans. No guard, annotation, budget, limit
// or window may forbid a move, in any prefix of the evictions.
func TestNoPlanBreaksARule(t *testing.T) {
	t.Parallel()
	withMoves, moves, prefixes, bad := 0, 0, 0, 0
	met := map[plan.Code]int{}
	blame := func(seed uint64, course string, found []planverifier.Violation) {
		for _, v := range found {
			if bad++; bad <= 40 {
				t.Errorf("seed %d, %s: step %d, pod %s: %s: %s", seed, course, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	for seed := range uint64(plans) {
		m := makeCase(t, seed)
		if len(m.plan.Moves) > 0 {
			withMoves++
		}
		moves += len(m.plan.Moves)
		for code, n := range m.plan.Rejections.Counts {
			met[code] += n
		}
		blame(seed, "wave by wave", planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt))
		ways := callOrders(rand.New(rand.NewPCG(seed, 31)))
		for _, name := range slices.Sorted(maps.Keys(ways)) {
			blame(seed, name, planverifier.Replay(m.o, m.rules, m.plan, m.o.TakenAt, ways[name]))
			prefixes += len(m.plan.Moves)
		}
	}
	t.Logf("%d plans, %d with moves, %d moves, %d prefixes of calls, %d violations; rejections by code:\n%s", plans, withMoves, moves,
		prefixes, bad, countTable(met))
	if withMoves < wantedWithMoves || moves < wantedMoves {
		t.Errorf("%d plans with moves and %d moves are too few (want %d and %d)", withMoves, moves, wantedWithMoves, wantedMoves)
	}
	checkAllCodesOccur(t, met)
}

// checkAllCodesOccur checks that every guard, budget and limit rejects at least one pod in the generated plans.
func checkAllCodesOccur(t *testing.T, met map[plan.Code]int) {
	want := []plan.Code{plan.BlockedByPDB, plan.MultiplePDBs, plan.PDBNotObserved, plan.WorkloadUnavailable,
		plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace, plan.LimitPerOwner, plan.LimitPerZone, plan.LimitPerHour, plan.BackedOff}
	for _, rule := range guard.Rules {
		if !slices.Contains(codesNeverRejected, rule.Code) {
			want = append(want, rule.Code)
		}
	}
	missing := []plan.Code{}
	for _, code := range want {
		if met[code] == 0 {
			missing = append(missing, code)
		}
	}
	t.Logf("%d of %d codes of guards, budgets and limits occur; missing: %v; not expected: %v", len(want)-len(missing), len(want), missing,
		codesNeverRejected)
	if len(missing) > 0 {
		t.Errorf("no plan rejects a pod with the codes %v", missing)
	}
}

func countTable(met map[plan.Code]int) string {
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(met)) {
		fmt.Fprintf(&b, "%-24s %6d\n", code, met[code])
	}
	return b.String()
}
