package planverifier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// emptyingSettings lets NodeConsolidation empty nodes beside two other strategies.
const emptyingSettings = `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
namespaces: {exclude: [kube-system]}
strategies:
  hot: {type: NodeLoad, schedule: "@hourly", args: {target: {cpu: 0.8, memory: 0.9}}}
  zones: {type: ZoneSpread, schedule: "@hourly", args: {maxSkew: 3}}
  pack: {type: NodeConsolidation, schedule: "@hourly", args: {below: {cpu: %s}, target: {cpu: 0.7, memory: 0.9}, maxNodes: %d}}
guards: {minReplicas: 1, minConfidence: %s}
placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: %s}}}]}]}
limits: {perPass: %s, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
evictor: {inFlight: {total: %d, perNode: %d, perOwner: 2}}
`

// makeEmptyingCase returns a plan for a cluster on which nodes may be emptied.
func makeEmptyingCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 77))
	o := simulation.Mixed(r)
	if seed%2 == 0 {
		o = simulation.Tight(r)
	}
	maxNodes := 1 + r.IntN(3)
	text := fmt.Sprintf(emptyingSettings, pick(r, "0.3", "0.5"), maxNodes, pick(r, "0.5", "0.9"),
		pick(r, "MostAllocated", "LeastAllocated"), pick(r, "unlimited", "12"), 1+r.IntN(8), 1+r.IntN(4))
	p, rules := makePlanFor(t, o, text, o.TakenAt, plan.PlannerState{})
	rules.Emptying = map[string]emptied.Rules{"pack": {MaxNodes: maxNodes, Target: map[string]float64{"cpu": 0.7, "memory": 0.9}}}
	return planCase{o, rules, p}
}

func pick(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }

// emptiedNodes returns the goals whose nodes the plan empties.
func emptiedNodes(p *plan.Plan) (out []plan.Goal) {
	for _, g := range p.Goals {
		if g.Kind == plan.NodeEmpty && p.After.Excess[g.ID] == 0 {
			out = append(out, g)
		}
	}
	return out
}

// TestNodesAreEmptiedWhole checks plans that empty nodes. No prefix of the evictions may break a rule, and nodes are
// emptied as a whole.
func TestNodesAreEmptiedWhole(t *testing.T) {
	t.Parallel()
	nodes, several, moves, rest := 0, 0, 0, 0
	for seed := range uint64(900) {
		m := makeEmptyingCase(t, seed)
		empty := emptiedNodes(&m.plan)
		nodes += len(empty)
		moves += len(m.plan.Moves)
		for _, g := range empty {
			if g.Excess > 1 {
				several++
			}
		}
		rest += m.plan.Rejections.Counts[plan.NodeNotEmptied]
		if b := m.plan.Bound; b.MinForPlan > len(m.plan.Moves) {
			t.Errorf("seed %d: the bound of the plan is %d evictions, but it has %d moves", seed, b.MinForPlan, len(m.plan.Moves))
		}
		found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
		for _, course := range callOrders(rand.New(rand.NewPCG(seed, 31))) {
			found = append(found, planverifier.Replay(m.o, m.rules, m.plan, m.o.TakenAt, course)...)
		}
		for _, v := range found {
			t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
		}
	}
	t.Logf("%d nodes emptied, %d of them by several moves, %d moves in all, %d pods stay because of others", nodes, several, moves, rest)
	if nodes < 60 || several < 20 || rest < 100 {
		t.Error("too few for this test")
	}
}

// TestTamperedEmptyingIsNamed breaks a plan that empties nodes in one place. The verifier must report the violation.
func TestTamperedEmptyingIsNamed(t *testing.T) {
	t.Parallel()
	for _, x := range emptyingTampers {
		t.Run(x.name, func(t *testing.T) {
			x.check(t, 400, func(seed uint64) planCase { return makeEmptyingCase(t, seed) }, nil)
		})
	}
}

var emptyingTampers = []tampering{
	{"one pod of the node stays", emptied.PartlyEmptied, editEmptying(func(m *planCase, own []int) string {
		first := m.plan.Moves[own[0]].Pod.String()
		m.plan.Moves = slices.Delete(m.plan.Moves, own[1], own[1]+1)
		return first
	})},
	{"a move for the node leaves another one", emptied.PartlyEmptied, editEmptying(func(m *planCase, own []int) string {
		i := slices.IndexFunc(m.plan.Moves, func(x plan.Move) bool { return x.From != m.plan.Moves[own[0]].From })
		if i < 0 {
			return ""
		}
		m.plan.Moves[i].Goals = append(slices.Clone(m.plan.Moves[i].Goals), m.plan.Moves[own[0]].Goals...)
		return m.plan.Moves[i].Pod.String()
	})},
	{"a replacement lands on the node", emptied.LandsOnEmpty, editEmptying(func(m *planCase, own []int) string {
		i := slices.IndexFunc(m.plan.Moves, func(x plan.Move) bool { return x.From != m.plan.Moves[own[0]].From })
		if i < 0 {
			return ""
		}
		m.plan.Moves[i].To = m.plan.Moves[own[0]].From
		return m.plan.Moves[i].Pod.String()
	})},
	{"a replacement lands on a node that is empty", emptied.NothingGained, editEmptying(func(m *planCase, own []int) string {
		for _, n := range m.o.Nodes {
			if len(n.Annotations) == 0 && len(n.Spec.Taints) == 0 && !slices.ContainsFunc(m.o.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == n.Name }) {
				m.plan.Moves[own[0]].To = n.Name
				return m.plan.Moves[own[0]].Pod.String()
			}
		}
		return ""
	})},
	{"maxNodes is smaller", emptied.TooManyNodes, func(m *planCase) (string, bool) {
		m.rules.Emptying = map[string]emptied.Rules{"pack": {MaxNodes: 1}}
		forPack := slices.DeleteFunc(emptiedNodes(&m.plan), func(g plan.Goal) bool { // moves for other goals may also leave a node empty
			return !slices.ContainsFunc(m.plan.Moves, func(x plan.Move) bool { return slices.Contains(x.Goals, g.ID) })
		})
		return "", len(forPack) > 1
	}},
	{"the target is smaller", emptied.AboveTarget, editEmptying(func(m *planCase, own []int) string {
		x := m.plan.Moves[own[0]]
		if cpu := m.pod(x).Spec.Containers[0].Resources.Requests.Cpu(); cpu.IsZero() {
			return ""
		}
		m.rules.Emptying = map[string]emptied.Rules{"pack": {Target: map[string]float64{"cpu": 0.001}}}
		return x.Pod.String()
	})},
	{"the plan says that the node is not empty", emptied.WrongExcess, func(m *planCase) (string, bool) {
		empty := emptiedNodes(&m.plan)
		if len(empty) > 0 {
			m.plan.After.Excess[empty[0].ID] = 1
		}
		return "", len(empty) > 0
	}},
	{"a pod of a node that stays has no reason", planverifier.UnexplainedStay, func(m *planCase) (string, bool) {
		i := slices.IndexFunc(m.plan.Rejections.Samples, func(r plan.Rejection) bool { return r.Reason.Code == plan.NodeNotEmptied })
		if i < 0 {
			return "", false
		}
		pod := m.plan.Rejections.Samples[i].Pod.String()
		m.plan.Rejections.Samples = slices.Delete(m.plan.Rejections.Samples, i, i+1)
		m.plan.Rejections.Counts[plan.NodeNotEmptied]--
		return pod, true
	}},
	{"no pod of the node moves for another goal", planverifier.PurposelessMove, editEmptying(func(m *planCase, own []int) string {
		i := slices.IndexFunc(m.plan.Goals, func(g plan.Goal) bool { return g.ID == m.plan.Moves[own[0]].Goals[0] })
		m.plan.Goals[i].Subject.Name = "elsewhere"
		return m.plan.Moves[own[0]].Pod.String()
	})},
}

// editEmptying changes the moves of the first node that several moves empty for one goal each. The list own holds their
// indices. If the change returns "", it does not apply.
func editEmptying(change func(m *planCase, own []int) string) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		for _, g := range emptiedNodes(&m.plan) {
			var own []int
			for i, x := range m.plan.Moves {
				if slices.Equal(x.Goals, []string{g.ID}) {
					own = append(own, i)
				}
			}
			if len(own) > 1 {
				pod := change(m, own)
				return pod, pod != ""
			}
		}
		return "", false
	}
}
