package planverifier_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/goalverifier"
	"github.com/evenkeel-project/evenkeel/verify/modeverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

var allStrategyPlans = flag.Int("all-strategy-plans", 200, "number of random plans with all strategies")
var firstPlan = flag.Uint64("first-plan", 0, "seed of the first random plan with all strategies")

// makeAllCase makes a plan for strategies of all types with random arguments, rules and modes, on a
// cluster with violations.
func makeAllCase(t testing.TB, seed uint64) modeCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 60))
	o, past := randomClusterAndState(r, seed, 4, "hot", "zones", "copies", "old", "")
	simulation.AddViolations(r, o)
	text := simulation.AllStrategySettings(r)
	byUsage := seed%3 == 0
	if byUsage {
		simulation.RandomUsage(r, o)
		simulation.AddStalls(r, o.Usage)
	}
	text = strategyLine.ReplaceAllStringFunc(text, func(line string) string {
		return withMode(line, []string{"automatic", "automatic", "automatic", "approve", "dryRun"}[r.IntN(5)])
	})
	if byUsage { // an automatic strategy without rules of its own, so that its goals limit every move
		text = strings.Replace(text, "strategies:\n", fmt.Sprintf("load: {%s, minCoverage: 0.5}\nstrategies:\n"+
			"  stalled: {type: NodeLoad, schedule: \"0 * * * *\", args: {basis: load, target: {cpu: 0.%d}, when: {stall: 0.%d}}}\n",
			stallSource, 3+r.IntN(4), 1+r.IntN(3)), 1)
	}
	if seed%8 > 4 {
		text = simulation.AddRefusals(rand.New(rand.NewPCG(seed, 62)), o, text)
	}
	return planCombinedCase(t, o, text, past)
}

// planCombinedCase makes a plan for the settings, and the rules of modes, strategies and goals.
func planCombinedCase(t testing.TB, o *cluster.Objects, text string, past plan.PlannerState) modeCase {
	t.Helper()
	m := newCombinedCase(t, o, text, past)
	m.rules.Goals = map[string]goalverifier.Strategy{}
	for i, of := range m.conf.Strategies {
		m.rules.Goals[of.Name] = goalverifier.Strategy{Type: of.Type, Args: of.Args}
		if of.Type == "NodeConsolidation" {
			args := emptied.Rules{MaxNodes: 5}
			must.Succeed(t, json.Unmarshal(of.Args, &args))
			m.rules.Plan.Emptying = map[string]emptied.Rules{of.Name: args}
		}
		if of.Mode == plan.ShowOnly { // constrains only moves of its mode
			m.rules.Plan.Strategies[i].MaxSkew = 0
		}
	}
	m.plan = m.planFor(m.conf.BuildStrategies(), nil)
	return m
}

// TestNoPlanOfAllStrategiesBreaksARule makes random plans for strategies of all types together.
func TestNoPlanOfAllStrategiesBreaksARule(t *testing.T) {
	t.Parallel()
	moves, bad := map[string]int{}, 0
	for seed := *firstPlan; seed < *firstPlan+uint64(*allStrategyPlans); seed++ {
		m := makeAllCase(t, seed)
		for _, of := range append([]plan.Proposal{{Mode: plan.Automatic, Plan: m.plan}}, m.plan.Proposals...) {
			for _, x := range of.Plan.Moves {
				countMove(moves, of.Plan, x)
				if m.isUnready(x) {
					moves["not Ready"]++
				}
				if n := m.snapshot.NodeByName(x.To); n != nil && n.Object.Annotations["evenkeel.io/exclude"] == "true" {
					moves["to an excluded node"]++
				}
			}
			m.countRefusals(moves, of.Plan)
			if b := of.Plan.Bound; b.MinForPlan > len(of.Plan.Moves) {
				t.Errorf("seed %d, %s: the bound of the plan is %d evictions, but it has %d moves", seed, of.Mode, b.MinForPlan, len(of.Plan.Moves))
			}
		}
		for _, v := range modeverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	t.Logf("%d plans, %d violations, moves: %v", *allStrategyPlans, bad, moves)
	for _, what := range slices.Concat(simulation.AddedStrategies, []string{"hot", "stalled", "zones", "eviction", "deletion", "return", "two constraints",
		"not Ready", "NodeBelow", "SkewAtMost", "CountAtMost", "PodsApart", "PodAway", "NodeEmpty", "to an excluded node"},
		behindScheduler) {
		if least := *allStrategyPlans / 50; moves[what] < least {
			t.Errorf("%s: %d moves, want at least %d", what, moves[what], least)
		}
	}
}

// behindScheduler are what AddRefusals adds: codes of pods that stay, and of nodes to which a pod of a move is not
// sent, and nodes that only a configured mark closes.
var behindScheduler = []string{string(plan.VolumeInUse), string(plan.LocalStorage), string(plan.ReplacementRefused),
	string(plan.NodeBeingDrained), "not to OnlyRefusingNodes", "not to OnlyUnhealthyNodes", "not to OnlyLeavingNodes",
	"not to NodeBeingDrained", "not to OnlyUnprovenPlatforms", "not to configured marks", "not without a runtime handler"}

// countRefusals counts the pods that stay by their codes, and the Ready nodes to which the pods of moves are not
// sent.
func (m modeCase) countRefusals(count map[string]int, p plan.Plan) {
	for code, n := range p.Rejections.Counts {
		count[string(code)] += n
	}
	to := targets.Cluster{Pods: map[string]*corev1.Pod{}, Objects: m.o, SameWorkload: func(p, q *corev1.Pod) bool {
		return p.Namespace == q.Namespace && p.Labels["app"] == q.Labels["app"]
	}}
	to.Nodes, to.NewArchitectures = map[string]*corev1.Node{}, m.rules.Plan.NewArchitectures
	for _, pod := range m.o.Pods {
		to.Pods[pod.Namespace+"/"+pod.Name] = pod
	}
	for _, n := range m.o.Nodes {
		to.Nodes[n.Name] = n
	}
	for _, x := range p.Moves {
		for _, n := range m.o.Nodes {
			pod := to.Pods[x.Pod.String()]
			usual, why := to.Pod(pod, n)
			if strings.Contains(why, "runtime handler") {
				count["not without a runtime handler"]++
			}
			with := to
			with.Marks = m.rules.Plan.NodeMarks
			if code, _ := with.Pod(pod, n); code != "" && x.To != "" {
				count["not to "+string(code)]++
				if usual == "" {
					count["not to configured marks"]++
				}
			}
		}
	}
}

// isUnready reports whether the pod of the move runs and is not Ready.
func (m modeCase) isUnready(x plan.Move) bool {
	p := m.snapshot.PodByKey(x.Pod.String())
	return !p.Ready && !p.Terminal
}

// countMove counts a move by its strategy, by the kinds of its goals, and by how the pod leaves.
func countMove(moves map[string]int, p plan.Plan, x plan.Move) {
	moves[x.Strategy]++
	kinds, constraints := map[string]bool{}, 0
	for _, g := range p.Goals {
		if slices.Contains(x.Goals, g.ID) {
			if kinds[string(g.Kind)] = true; g.Strategy == "constraints" {
				constraints++
			}
		}
	}
	for kind := range kinds {
		moves[kind]++
	}
	switch {
	case constraints > 1:
		moves["two constraints"]++
	case x.Removal != "":
		moves[string(x.Removal)]++
	case x.From == x.To:
		moves["return"]++
	}
}
