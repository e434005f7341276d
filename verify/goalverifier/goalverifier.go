// Package goalverifier checks the goals of a finished plan independently of the strategies and the
// planner. It derives the goals from Kubernetes objects and the arguments of the strategies, with
// its own code for docs/reference/strategies.md.
//
// The package decides whether a plan lists the goals that its strategies have, whether each move
// improves a goal of its strategy, and whether a move worsens another goal. It covers the
// strategies about violations. Packages planverifier and modeverifier check NodeLoad and
// ZoneSpread. Package goalverifier never makes a plan and never judges how good a plan is.
package goalverifier

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
)

// Codes for violations of goals.
const (
	WorsensGoal  plan.Code = "WorsensGoal"  // the move worsens a goal that it must not worsen
	ServesNoGoal plan.Code = "ServesNoGoal" // the move improves no goal of its strategy
	UnknownGoal  plan.Code = "UnknownGoal"  // the plan lists a goal that its strategy does not have
	MissingGoal  plan.Code = "MissingGoal"  // the plan does not list a goal that its strategy has
	WrongRemoval plan.Code = "WrongRemoval" // the pod has ended and is moved, or is not removed as configured
)

// Rules holds the settings that decide about goals.
type Rules struct {
	// Plan holds the global scope and the rules of the strategies.
	Plan planverifier.Rules
	// Strategies are the types and arguments of the strategies by name.
	Strategies map[string]Strategy
	// Listed holds the strategies whose goals the plan lists, and Ignored those whose goals do not
	// limit its moves, by name.
	Listed, Ignored map[string]bool
}

// Strategy is the type and the arguments of a strategy.
type Strategy struct {
	Type string
	Args []byte // JSON
}

// places is where the pods are while the verifier executes the moves of a plan.
type places struct {
	node  map[string]string // by pod; "" after a removal
	moved map[string]bool   // by pod
}

// goal is a goal of a strategy about some pods.
type goal struct {
	strategy string
	of       plan.Goal // the fields that identify it
	pods     map[string]bool
	// excess returns how far the goal is from being met: the pods that must leave, or the conflicts that must end.
	excess func(places) int
	// counts reports whether a landing on a node can improve the goal. Nil means that every landing can.
	counts func(node string) bool
	// reported is the excess that a plan reports, if it is not the same.
	reported func(places) float64
	// removal is how an ended pod is removed.
	removal plan.Removal
}

type verifier struct {
	*objects
	rules Rules
	goals []*goal
	at    places
	// preferences returns what a strategy of the type NodeAffinity or NodeTaints reads about a pod, by name.
	preferences map[string]func(p *corev1.Pod) preference
	violations  []planverifier.Violation
}

// Check returns every violation of plan p on the cluster o, if the moves of first have been
// executed before. The goals that the plan lists are those before its own moves.
func Check(o *cluster.Objects, c Rules, first []plan.Move, p plan.Plan) []planverifier.Violation {
	r := &verifier{objects: index(o), rules: c, at: places{map[string]string{}, map[string]bool{}},
		preferences: map[string]func(*corev1.Pod) preference{}}
	for k, pod := range r.pods {
		r.at.node[k] = pod.Spec.NodeName
	}
	for _, s := range c.Plan.Strategies {
		goals, err := r.goalsOf(s)
		if err != nil {
			return []planverifier.Violation{{Code: UnknownGoal, Detail: fmt.Sprintf("strategy %s: %v", s.Name, err)}}
		}
		r.goals = append(r.goals, goals...)
	}
	for _, m := range first {
		r.move(m)
	}
	r.checkListed(p)
	for _, m := range p.Moves {
		r.checkMove(m)
	}
	return r.violations
}

func (r *verifier) report(m plan.Move, code plan.Code, format string, args ...any) {
	r.violations = append(r.violations, planverifier.Violation{Step: m.Step, Pod: m.Pod.String(), Code: code, Detail: fmt.Sprintf(format, args...)})
}

func (r *verifier) move(m plan.Move) {
	r.at.node[m.Pod.String()], r.at.moved[m.Pod.String()] = m.To, true
}

// checkMove checks what a move does to the goals about its pod, and executes it.
func (r *verifier) checkMove(m plan.Move) {
	pod := m.Pod.String()
	var about []*goal
	var before []int
	for _, g := range r.goals {
		if g.pods[pod] {
			about, before = append(about, g), append(before, g.excess(r.at))
		}
	}
	r.checkRemoval(m, about)
	r.checkRanks(m)
	r.move(m)
	improves := false
	soft := r.rulesOf(m.Strategy).Soft
	for i, g := range about {
		after := g.excess(r.at)
		improves = improves || g.strategy == m.Strategy && after < before[i] && (g.counts == nil || m.To == "" || g.counts(m.To))
		if limits := !r.rules.Ignored[g.strategy] && (soft || !r.rulesOf(g.strategy).Soft); limits && after > before[i] {
			r.report(m, WorsensGoal, "the excess of %s %s/%s of strategy %s grows from %d to %d", g.of.Kind, g.of.Subject.Namespace,
				g.of.TopologyKey, g.strategy, before[i], after)
		}
	}
	if s := r.rules.Strategies[m.Strategy]; !improves && m.DisplacedFor == nil && derives(s.Type) {
		r.report(m, ServesNoGoal, "the move from %q to %q improves no goal of strategy %s", m.From, m.To, m.Strategy)
	}
}

// checkRemoval checks that a pod that has ended is removed as a goal about it says, and that only
// such a pod is removed.
func (r *verifier) checkRemoval(m plan.Move, about []*goal) {
	pod := r.pods[m.Pod.String()]
	if pod == nil {
		return // package planverifier reports it
	}
	var want plan.Removal
	for _, g := range about {
		if g.strategy == m.Strategy {
			want = g.removal
		}
	}
	if ended := isTerminal(pod); m.Removal != want || ended && m.To != "" || !ended && m.Removal != "" {
		r.report(m, WrongRemoval, "the pod is %s; it is removed with %q to node %q, but its goal says %q", pod.Status.Phase, m.Removal, m.To, want)
	}
}

// checkListed compares the goals that a plan lists with those of its strategies that are not met. A
// plan lists only some goals about single pods, but counts all. It may divide the conflicts of a
// strategy among several goals.
func (r *verifier) checkListed(p plan.Plan) {
	listed, have, conflicts, pods := map[string]bool{}, map[string]bool{}, map[string]float64{}, map[string]int{}
	for _, g := range p.Goals {
		switch {
		case !derives(r.rules.Strategies[g.Strategy].Type) || g.Excess == 0:
		case g.Kind == plan.PodsApart:
			conflicts[g.Strategy] += g.Excess
		default:
			listed[describe(g.Strategy, g, g.Excess)] = true
		}
	}
	for _, n := range p.PodGoals {
		pods[n.Strategy] = n.Unmet
	}
	for _, g := range r.goals {
		switch excess := r.excessOf(g); {
		case excess == 0 || !r.rules.Listed[g.strategy]:
		case g.of.Kind == plan.PodsApart:
			conflicts[g.strategy] -= excess
		case g.of.Kind == plan.PodAway:
			pods[g.strategy]--
			fallthrough
		default:
			have[describe(g.strategy, g.of, excess)] = true
		}
	}
	for _, text := range sorted(listed) {
		r.reportGoal(!have[text], UnknownGoal, "%s", text)
	}
	for _, text := range sorted(have) {
		r.reportGoal(!listed[text] && !strings.Contains(text, string(plan.PodAway)), MissingGoal, "%s", text)
	}
	for _, name := range sorted(conflicts) {
		r.reportGoal(conflicts[name] > 0, UnknownGoal, "%v more conflicts than strategy %s has", conflicts[name], name)
		r.reportGoal(conflicts[name] < 0, MissingGoal, "%v of the conflicts of strategy %s", -conflicts[name], name)
	}
	for _, name := range sorted(pods) {
		r.reportGoal(pods[name] > 0, UnknownGoal, "%d more goals about pods than strategy %s has", pods[name], name)
		r.reportGoal(pods[name] < 0, MissingGoal, "%d of the goals about pods of strategy %s", -pods[name], name)
	}
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// reportGoal reports a violation that is not about a move.
func (r *verifier) reportGoal(violated bool, code plan.Code, format string, args ...any) {
	if violated {
		r.violations = append(r.violations, planverifier.Violation{Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

func (r *verifier) excessOf(g *goal) float64 {
	if g.reported != nil {
		return g.reported(r.at)
	}
	return float64(g.excess(r.at))
}

// describe identifies a goal by what its strategy states about it.
func describe(strategy string, g plan.Goal, excess float64) string {
	name := ""
	if g.Kind == plan.PodAway {
		name = g.Subject.Name
	}
	return fmt.Sprintf("%s: %s %s/%s by %s at most %v, excess %v", strategy, g.Kind, g.Subject.Namespace, name, g.TopologyKey, g.Limit, excess)
}

func (r *verifier) rulesOf(strategy string) planverifier.StrategyRules {
	i := slices.IndexFunc(r.rules.Plan.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == strategy })
	if i < 0 {
		return planverifier.StrategyRules{}
	}
	return r.rules.Plan.Strategies[i]
}

// inScope reports whether the strategy may state a goal about a pod on its node.
func (r *verifier) inScope(s planverifier.StrategyRules, p *corev1.Pod) bool {
	n := r.nodes[p.Spec.NodeName]
	return n != nil && !isTerminating(p) && !emptied.BelongsToNode(p) && r.hasNode(s, n) && r.hasPod(s, p)
}

// hasNode reports whether a node is in the global scope and in that of the strategy.
func (r *verifier) hasNode(s planverifier.StrategyRules, n *corev1.Node) bool {
	g := &r.rules.Plan
	return !g.IsVirtual(n) && matches(g.NodeSelector, n.Labels) && matches(s.NodeSelector, n.Labels)
}

// hasPod reports whether the namespace and the labels of a pod are in both scopes.
func (r *verifier) hasPod(s planverifier.StrategyRules, p *corev1.Pod) bool {
	return r.hasNamespace(s, p.Namespace) && matches(s.PodSelector, p.Labels)
}

func (r *verifier) hasNamespace(s planverifier.StrategyRules, name string) bool {
	g := &r.rules.Plan
	listed := func(include, exclude []string, selector labels.Selector) bool {
		if slices.Contains(exclude, name) || len(include) > 0 && !slices.Contains(include, name) {
			return false
		}
		ns := r.namespaces[name]
		return selector == nil || selector.Empty() || ns != nil && selector.Matches(labels.Set(ns.Labels))
	}
	return listed(g.Include, g.Exclude, g.NamespaceSelector) && listed(s.Include, s.Exclude, s.NamespaceSelector)
}

func matches(selector labels.Selector, of map[string]string) bool {
	return selector == nil || selector.Matches(labels.Set(of))
}
