package planverifier_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/placeless"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

var (
	strategyLines = regexp.MustCompile(`(?m)^strategies:\n(  .*\n)+`)
	inFlightLine  = regexp.MustCompile(`inFlight: \{.*\}`)
)

// makePlacelessCase is makeCase with strategies about violations and lifecycle, most of which need
// no predicted place. On most nodes, no replacement has a place.
func makePlacelessCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 60))
	o := simulation.Mixed(r)
	for _, n := range o.Nodes {
		n.Spec.Unschedulable = n.Spec.Unschedulable || r.IntN(10) < 7
	}
	for _, p := range o.Pods {
		if len(p.Spec.NodeSelector) > 0 || r.IntN(8) > 0 {
			continue
		}
		p.Spec.NodeSelector = map[string]string{"disk": "nvme"} // the node has lost this label
	}
	landing := func() string { return []string{"", ", landing: notRequired", ", landing: notRequired"}[r.IntN(3)] }
	text := strategyLines.ReplaceAllString(simulation.Settings(r), fmt.Sprintf(`strategies:
  old: {type: Lifetime, schedule: "@hourly", args: {maxAge: %dh}%s}
  twins: {type: Duplicates, schedule: "@hourly"%s}
  labels: {type: NodeAffinity, schedule: "@hourly", args: {preferred: true}%s}
  apart: {type: InterPodAntiAffinity, schedule: "@hourly"%s}
  zones: {type: ZoneSpread, schedule: "@hourly"}
  hot: {type: NodeLoad, schedule: "@hourly", args: {target: {cpu: 0.%d}}}
`, 1+r.IntN(30), landing(), landing(), landing(), landing(), 3+r.IntN(6)))
	text = inFlightLine.ReplaceAllString(text, fmt.Sprintf("breaker: {maxPendingPods: %d}\n  inFlight: {total: 16, perNode: 4, perOwner: 2}", 1+r.IntN(8)))
	p, rules := makePlanFor(t, o, text, o.TakenAt, simulation.RandomState(r, o))
	return planCase{o, rules, p}
}

// TestNoPlanWithoutPlacesBreaksARule makes random plans for strategies that need no predicted place.
func TestNoPlanWithoutPlacesBreaksARule(t *testing.T) {
	t.Parallel()
	moves, without, both, later, bad := 0, 0, 0, 0, 0
	for seed := range uint64(placelessPlans) {
		m := makePlacelessCase(t, seed)
		here := 0
		for _, x := range m.plan.Moves {
			if x.WithoutPlace() {
				here++
			}
		}
		moves, without, later = moves+len(m.plan.Moves), without+here, later+m.plan.Rejections.Counts[plan.WaitsForNextPass]
		if here > 0 && here < len(m.plan.Moves) {
			both++
		}
		if b := m.plan.Bound; b.MinForPlan > len(m.plan.Moves) {
			t.Errorf("seed %d: the bound of the plan is %d evictions, but it has %d moves", seed, b.MinForPlan, len(m.plan.Moves))
		}
		for id, residual := range m.plan.Bound.ResidualByGoal {
			if after := m.plan.After.Excess[id]; after < residual-1e-4 {
				t.Errorf("seed %d: goal %s has excess %v after the plan, less than the residual %v", seed, id, after, residual)
			}
		}
		found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
		ways := callOrders(rand.New(rand.NewPCG(seed, 31)))
		found = append(found, planverifier.Replay(m.o, m.rules, m.plan, m.o.TakenAt, ways["any order, late"])...)
		for _, v := range found {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	t.Logf("%d plans, %d moves, %d of them without a place, %d plans with both kinds, %d pods wait, %d violations", placelessPlans, moves, without,
		both, later, bad)
	if without < placelessPlans/5 || both < placelessPlans/20 || later < placelessPlans/20 {
		t.Error("these are too few")
	}
}

const placelessPlans = 200

// placelessTampers break a plan with at least two moves without a place and one with a place. apply returns the pod.
var placelessTampers = []struct {
	name  string
	want  plan.Code
	apply func(m *planCase, with, without *plan.Move) string
}{
	{"a strategy that requires a place", placeless.PlaceRequired, func(m *planCase, _, x *plan.Move) string {
		m.rules.Landing.Strategies = nil
		return x.Pod.String()
	}},
	{"a goal that depends on the landing", placeless.PlaceRequired, func(m *planCase, _, x *plan.Move) string {
		for i := range m.plan.Goals {
			if slices.Contains(x.Goals, m.plan.Goals[i].ID) {
				m.plan.Goals[i].Kind = plan.SkewAtMost
			}
		}
		return x.Pod.String()
	}},
	{"a node", placeless.PlaceMixedUp, func(_ *planCase, with, x *plan.Move) string {
		x.To = with.From
		return x.Pod.String()
	}},
	{"not the last wave", placeless.NotLast, func(m *planCase, with, x *plan.Move) string {
		with.Wave = x.Wave + 1
		return x.Pod.String()
	}},
	{"in a wave of moves with places", placeless.NotLast, func(_ *planCase, with, x *plan.Move) string {
		with.Wave = x.Wave
		return x.Pod.String()
	}},
	{"more than may stay Pending", placeless.TooManyPlaceless, func(m *planCase, _, x *plan.Move) string {
		m.rules.Landing.MaxPending = 0
		return x.Pod.String()
	}},
	{"a landing that does not help", placeless.LandsBadly, func(_ *planCase, _, x *plan.Move) string {
		x.Confidence, x.PendingProbability = 0, 0
		return x.Pod.String()
	}},
	{"two moves for one goal", placeless.GoalShared, func(m *planCase, _, x *plan.Move) string {
		for i := range m.plan.Moves {
			if y := &m.plan.Moves[i]; y.WithoutPlace() && y.Pod != x.Pod {
				y.Goals = append(slices.Clone(y.Goals), x.Goals...)
				return x.Pod.String() // the later one
			}
		}
		return ""
	}},
	{"no place, and not marked", planverifier.MalformedPlan, func(_ *planCase, _, x *plan.Move) string {
		x.Landing = ""
		return x.Pod.String()
	}},
}

// TestTamperedPlacelessMovesAreNamed breaks the rules for moves without a predicted place in each way.
func TestTamperedPlacelessMovesAreNamed(t *testing.T) {
	t.Parallel()
	const wanted = 5
	done := 0
	for seed := uint64(0); seed < placelessPlans && done < wanted; seed++ {
		good := makePlacelessCase(t, seed)
		if n := countPlaceless(good.plan); n < 2 || n == len(good.plan.Moves) {
			continue
		}
		done++
		for _, x := range placelessTampers {
			m := good
			m.plan.Moves, m.plan.Goals = slices.Clone(good.plan.Moves), slices.Clone(good.plan.Goals)
			var with, without *plan.Move
			for i := range m.plan.Moves {
				if y := &m.plan.Moves[i]; y.WithoutPlace() {
					without = y
				} else {
					with = y
				}
			}
			pod := x.apply(&m, with, without)
			if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, pod, x.want) {
				t.Errorf("seed %d, %s: want %s about %s, found %v", seed, x.name, x.want, pod, found)
			}
		}
	}
	if done < wanted {
		t.Errorf("only %d plans", done)
	}
}

func countPlaceless(p plan.Plan) (n int) {
	for _, m := range p.Moves {
		if m.WithoutPlace() {
			n++
		}
	}
	return n
}
