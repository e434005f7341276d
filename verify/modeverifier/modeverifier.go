// Package modeverifier checks the modes of strategies in a finished plan independently of the planner. It implements
// docs/reference/approvals.md with its own code.
//
// The package decides whether each part of a plan is allowed: the moves of automatic strategies,
// and the proposals after them. Package planverifier checks guards, budgets and limits. Package
// modeverifier never makes a plan and never judges how good a plan is.
package modeverifier

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/goalverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// Codes for violations of modes.
const (
	WrongMode    plan.Code = "WrongMode"    // the move serves a strategy of another mode
	GoalWorsened plan.Code = "GoalWorsened" // the part worsens a goal that constrains it
)

// Rules holds the settings that a plan must obey.
type Rules struct {
	// Plan holds the rules for every part.
	Plan planverifier.Rules
	// Modes holds the mode of each strategy: automatic, approve or dryRun. A missing strategy is automatic.
	Modes map[string]string
	// Targets are the targets of NodeLoad strategies by requests, and Spreads the ZoneSpread
	// strategies by owner over zones.
	Targets []Target
	Spreads []Spread
	// Goals holds the types and arguments of the strategies by name, for package goalverifier.
	// Without any, the goals about violations are not checked.
	Goals map[string]goalverifier.Strategy
}

// Target is one resource of a NodeLoad strategy by requests. Target is a fraction of the node's
// allocatable amount.
type Target struct {
	Strategy, Resource string
	Target             float64
}

// Spread is a ZoneSpread strategy that spreads the pods of each owner over zones.
type Spread struct {
	Strategy string
	MaxSkew  int
}

// Modes of strategies.
const (
	automatic = "automatic"
	approve   = "approve"
	dryRun    = "dryRun"
)

func (c Rules) modeOf(strategy string) string {
	if m := c.Modes[strategy]; m != "" {
		return m
	}
	return automatic
}

// constrains reports whether the goals of a strategy constrain the moves of a mode. Those of dryRun
// strategies constrain only moves of this mode.
func (c Rules) constrains(strategy, mode string) bool {
	of := c.modeOf(strategy)
	return of == mode || of != dryRun
}

// planRules returns the rules for the moves of a mode, without the targets that do not constrain them.
func (c Rules) planRules(mode string) planverifier.Rules {
	out := c.Plan
	out.Strategies = slices.Clone(c.Plan.Strategies)
	for i := range out.Strategies {
		if s := &out.Strategies[i]; !c.constrains(s.Name, mode) {
			*s = s.WithoutTargets()
		}
	}
	return out
}

// rulesOf returns the rules of a strategy, or rules without any restriction.
func (c Rules) rulesOf(strategy string) planverifier.StrategyRules {
	for _, s := range c.Plan.Strategies {
		if s.Name == strategy {
			return s
		}
	}
	return planverifier.StrategyRules{Name: strategy}
}

// Check returns every violation of plan p and its proposals on the cluster o at time now. A
// proposal must be allowed after all moves of the plan itself. Each plan must list every rejection
// as a sample.
func Check(o *cluster.Objects, c Rules, p plan.Plan, now time.Time) []planverifier.Violation {
	r := &verifier{objects: o, rules: c, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}, owners: newOwners(o)}
	for _, n := range o.Nodes {
		r.nodes[n.Name] = n
	}
	for _, pod := range o.Pods {
		r.pods[pod.Namespace+"/"+pod.Name] = pod
	}
	r.violations = planverifier.Check(o, c.planRules(automatic), p, now)
	r.checkMovesOfMode(p, nil, automatic)
	seen := map[plan.StrategyMode]bool{}
	for _, of := range p.Proposals {
		if of.Mode != approve && of.Mode != dryRun || seen[of.Mode] || len(of.Plan.Proposals) > 0 {
			r.violations = append(r.violations, planverifier.Violation{Code: planverifier.MalformedPlan,
				Detail: fmt.Sprintf("the proposal in mode %q is of no known mode, occurs twice, or has proposals itself", of.Mode)})
			continue
		}
		seen[of.Mode] = true
		r.violations = append(r.violations, violationsAfter(o, c.planRules(string(of.Mode)), p.Moves, of.Plan, now)...)
		r.checkMovesOfMode(of.Plan, p.Moves, string(of.Mode))
	}
	return r.violations
}

// violationsAfter returns the violations of a proposal that is executed after the first moves, with the steps of the
// proposal.
func violationsAfter(o *cluster.Objects, c planverifier.Rules, first []plan.Move, p plan.Plan,
	now time.Time) (out []planverifier.Violation) {
	steps, waves := 0, 0
	for _, m := range first {
		steps, waves = max(steps, m.Step), max(waves, m.Wave)
	}
	all := slices.Clone(first)
	for i := range all {
		all[i].Goals = nil // they have IDs of another plan
	}
	for _, m := range p.Moves {
		m.Step, m.Wave = m.Step+steps, m.Wave+waves
		all = append(all, m)
	}
	p.Moves = all
	for _, v := range planverifier.Check(o, c, p, now) {
		if v.Step == 0 || v.Step > steps { // the others are about the first moves, which serve other goals
			v.Step = max(0, v.Step-steps)
			out = append(out, v)
		}
	}
	return out
}

type verifier struct {
	objects    *cluster.Objects
	rules      Rules
	nodes      map[string]*corev1.Node
	pods       map[string]*corev1.Pod // by namespace/name
	owners     owners
	violations []planverifier.Violation
}

func (r *verifier) report(m plan.Move, code plan.Code, format string, args ...any) {
	r.violations = append(r.violations, planverifier.Violation{Step: m.Step, Pod: m.Pod.String(), Code: code,
		Detail: fmt.Sprintf(format, args...)})
}

// checkMovesOfMode checks the moves of one mode, which begin after the first moves. They serve only
// strategies of this mode, and all together worsen no goal that constrains them.
func (r *verifier) checkMovesOfMode(p plan.Plan, first []plan.Move, mode string) {
	strategy := map[string]string{}
	for _, g := range p.Goals {
		strategy[g.ID] = g.Strategy
	}
	for _, m := range p.Moves {
		if got := r.rules.modeOf(m.Strategy); got != mode {
			r.report(m, WrongMode, "it serves strategy %s, whose mode is %s, not %s", m.Strategy, got, mode)
		}
		for _, id := range m.Goals {
			if got := r.rules.modeOf(strategy[id]); got != mode {
				r.report(m, WrongMode, "it serves goal %s of strategy %s, whose mode is %s, not %s", id, strategy[id], got, mode)
			}
		}
	}
	r.checkGoals(p.Moves, first, mode)
	rules := goalverifier.Rules{Plan: r.rules.Plan, Strategies: r.rules.Goals, Listed: map[string]bool{}, Ignored: map[string]bool{}}
	for name := range r.rules.Goals {
		rules.Listed[name], rules.Ignored[name] = r.rules.modeOf(name) == mode, !r.rules.constrains(name, mode)
	}
	r.violations = append(r.violations, goalverifier.Check(r.objects, rules, first, p)...)
}
