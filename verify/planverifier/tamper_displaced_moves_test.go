package planverifier_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// makeTightCase returns a plan for a cluster on which some pods must make room for others.
func makeTightCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	o := simulation.Tight(rand.New(rand.NewPCG(seed, 61)))
	p, rules := makePlanFor(t, o, simulation.TightSettings, o.TakenAt, plan.PlannerState{})
	return planCase{o, rules, p}
}

// TestNoStepBreaksARule checks plans with displaced moves. No prefix of the evictions may break a rule.
func TestNoStepBreaksARule(t *testing.T) {
	t.Parallel()
	steps := 0
	for seed := range uint64(200) {
		m := makeTightCase(t, seed)
		for _, x := range m.plan.Moves {
			if x.DisplacedFor != nil {
				steps++
			}
		}
		found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
		for _, course := range callOrders(rand.New(rand.NewPCG(seed, 31))) {
			found = append(found, planverifier.Replay(m.o, m.rules, m.plan, m.o.TakenAt, course)...)
		}
		for _, v := range found {
			t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
		}
	}
	if steps < 30 {
		t.Errorf("%d displaced moves are too few for this test", steps)
	}
}

// TestTamperedStepsAreNamed breaks a valid displaced move in one place. The verifier must report the violation.
func TestTamperedStepsAreNamed(t *testing.T) {
	t.Parallel()
	for _, x := range stepTampers {
		t.Run(x.name, func(t *testing.T) {
			x.check(t, 200, func(seed uint64) planCase { return makeTightCase(t, seed) }, nil)
		})
	}
}

// stepTampers remove the purpose of a move.
var stepTampers = []tampering{
	{"a move without a goal", planverifier.PurposelessMove, editFirstMove(func(m *planCase, x *plan.Move) { x.Goals = []string{} })},
	{"a displaced move without displacedFor", planverifier.PurposelessMove, editDisplacement(func(q, p *plan.Move) { q.DisplacedFor = nil })},
	{"room for a pod that the plan does not move", planverifier.RoomNotUsed,
		editDisplacement(func(q, p *plan.Move) { q.DisplacedFor = &plan.PodRef{Namespace: "shop", Name: "nobody", UID: "nobody"} })},
	{"room for a pod of another namespace", planverifier.PurposelessMove, func(m *planCase) (string, bool) {
		pod, ok := editDisplacement(func(q, p *plan.Move) {
			other := *q.DisplacedFor
			other.Namespace, p.Pod.Namespace, q.DisplacedFor = "elsewhere", "elsewhere", &other
		})(m)
		return pod, ok && !m.rules.DisplaceAcrossNamespaces
	}},
	{"room on another node", planverifier.RoomNotUsed, editDisplacement(func(q, p *plan.Move) { p.To = q.To })},
	{"both moves in the same wave", planverifier.RoomNotUsed, editDisplacement(func(q, p *plan.Move) { q.Wave = p.Wave })},
	{"room for a move without a goal", planverifier.PurposelessMove, editDisplacement(func(q, p *plan.Move) { p.Goals = nil })},
	{"room for another displaced move", planverifier.PurposelessMove,
		editDisplacement(func(q, p *plan.Move) { r := q.Pod; p.DisplacedFor = &r })},
}

// editDisplacement changes the plan's first displaced move and the move that needs the freed room.
func editDisplacement(change func(q, p *plan.Move)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		m.plan.Moves = slices.Clone(m.plan.Moves)
		for i := range m.plan.Moves {
			q := &m.plan.Moves[i]
			if q.DisplacedFor == nil {
				continue
			}
			k := slices.IndexFunc(m.plan.Moves, func(x plan.Move) bool { return x.Pod == *q.DisplacedFor })
			change(q, &m.plan.Moves[k])
			return q.Pod.String(), true
		}
		return "", false
	}
}
