package planverifier

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Codes for moves that break a rule of their strategy that has no reason code in package plan.
const (
	WrongStrategy plan.Code = "WrongStrategy" // the move contributes to no goal of its strategy, or to one that may not move the pod, or more to another
	WrongWeight   plan.Code = "WrongWeight"   // a goal does not have the weight or the softness of its strategy
	WorsensGoal   plan.Code = "WorsensGoal"   // the move worsens a goal that it must not worsen
	SoftNotApart  plan.Code = "SoftNotApart"  // a soft move is displaced, or shares its wave with a move that is not soft
)

// StrategyRules holds the settings of one strategy. Those that are not set have their zero value,
// and limits that are not set are Unlimited. See "Rules of one strategy" in
// docs/reference/strategies.md.
type StrategyRules struct {
	Name                                         string
	NodeSelector, NamespaceSelector, PodSelector labels.Selector // nil: all
	Include, Exclude                             []string        // namespaces

	Protect                 []string
	ProtectedStorageClasses []string
	MinReplicas             int
	MinPodAge               time.Duration
	PriorityBelow           string

	PerPass, PerOwner, PerHourOwner, PerHourCluster Limit

	Weight float64 // 1 if it is not set
	Soft   bool
	NodeLevels
	// MaxSkew is that of a ZoneSpread strategy over SpreadBy, and 0 for other strategies. ByService
	// is set if it spreads the pods of Services and not of owners.
	MaxSkew   int
	SpreadBy  string
	ByService bool
	// CountsScope is set for ZoneSpread and Duplicates. Their goals count only domains with a node
	// in scope on which the group can run.
	CountsScope bool
	// ByConstraint is set for TopologySpread, whose goals count pods of several workloads, and not
	// on every node. Package goalverifier checks these goals.
	ByConstraint bool
}

// strategyOf returns the rules of the move's strategy, or nil.
func (r *Rules) strategyOf(m plan.Move) *StrategyRules {
	for i := range r.Strategies {
		if r.Strategies[i].Name == m.Strategy {
			return &r.Strategies[i]
		}
	}
	return nil
}

// within returns the global rules with the values of the strategy in their place.
func (s *StrategyRules) within(global Rules) Rules {
	out := global
	out.NodeSelector, out.NamespaceSelector, out.PodSelector = s.NodeSelector, s.NamespaceSelector, s.PodSelector
	out.Include, out.Exclude = s.Include, s.Exclude
	out.Protect = map[string]bool{}
	for _, p := range s.Protect {
		out.Protect[p] = true
	}
	out.ProtectedStorageClasses, out.MinReplicas, out.MinPodAge = s.ProtectedStorageClasses, s.MinReplicas, s.MinPodAge
	if s.PriorityBelow != "" {
		out.PriorityBelow = s.PriorityBelow
	}
	return out
}

// barsOf returns the reasons for which the strategy may not make the move of a pod, besides the global rules.
func barsOf(r *podGuards, s *StrategyRules, m plan.Move, p *corev1.Pod) []rejection {
	own, rules := *r, s.within(*r.rules)
	own.rules = &rules
	return thatForbid(m, own.rejections(p))
}

// checkStrategyGuards checks the calls of a wave against the rules of their strategies.
func checkStrategyGuards(r *verifier, calls []call) {
	if len(r.rules.Strategies) == 0 {
		return
	}
	for _, c := range calls {
		s := r.rules.strategyOf(c.move)
		if s == nil {
			r.report(c.move, WrongStrategy, "the configuration has no strategy %q", c.move.Strategy)
			continue
		}
		for _, no := range barsOf(r.guards, s, c.move, c.pod) {
			r.report(c.move, no.code, "for strategy %s: %s", s.Name, no.why)
		}
		if slices.Contains(s.Protect, "LastReadyPods") {
			checkKeepsReady(r, c, calls)
		}
	}
}

// checkKeepsReady checks that the wave leaves a Ready pod to each Service that selects the pod.
func checkKeepsReady(r *verifier, c call, calls []call) {
	for _, s := range r.before.services {
		left := r.live.readyPodsOfService(s)
		for _, x := range calls {
			if isReady(x.pod) && s.selects(x.pod) {
				left--
			}
		}
		if isReady(c.pod) && s.selects(c.pod) && left < 1 {
			r.report(c.move, plan.LastReadyPod, "its wave leaves no Ready pod of Service %s, which its strategy protects", s.key)
		}
	}
}

// checkStrategyLimits checks the moves of each strategy against the limits of the strategy.
func checkStrategyLimits(r *verifier, p plan.Plan) {
	for _, s := range r.rules.Strategies {
		own := p
		own.Moves = slices.DeleteFunc(slices.Clone(p.Moves), func(m plan.Move) bool { return m.Strategy != s.Name })
		rules := *r.rules
		none := Limit{Unlimited: true}
		rules.PerPass, rules.PerNode, rules.PerNamespace, rules.PerOwner, rules.PerZone = s.PerPass, none, none, s.PerOwner, none
		rules.PerHourOwner, rules.PerHourNamespace, rules.PerHourCluster = s.PerHourOwner, none, s.PerHourCluster
		rules.State.Evictions = slices.DeleteFunc(slices.Clone(rules.State.Evictions),
			func(e plan.EvictionCount) bool { return e.Strategy != s.Name })
		r.checkPassLimits(own, &rules)
		r.checkHourlyLimits(own, &rules)
	}
}

// checkAttribution checks that each move contributes to a goal of its strategy, and lists no goal
// of a strategy that may not move the pod. The goals must have the weight and the softness of their
// strategies.
func checkAttribution(r *verifier, p plan.Plan) {
	for _, g := range p.Goals {
		s := r.rules.strategyOf(plan.Move{Strategy: g.Strategy})
		if s == nil {
			continue
		}
		// A group that misses its zone-slo has twice the weight.
		if double := g.Kind == plan.SkewAtMost && near(g.Weight, 2*s.Weight); g.Soft != s.Soft || !double && !near(g.Weight, s.Weight) {
			r.violations = append(r.violations, Violation{0, "", WrongWeight,
				"goal " + g.ID + " has not the weight and the softness of strategy " + s.Name})
		}
	}
	for _, m := range p.Moves {
		goals := m
		goals.Goals = nil
		for _, g := range p.Goals {
			s := r.rules.strategyOf(plan.Move{Strategy: g.Strategy})
			pod := r.before.pods[m.Pod.String()]
			if s == nil || pod == nil || !slices.Contains(m.Goals, g.ID) {
				continue
			}
			if g.Strategy == m.Strategy {
				goals.Goals = append(goals.Goals, g.ID)
			} else if bars := barsOf(r.guards, s, m, pod); m.DisplacedFor == nil && len(bars) > 0 {
				r.report(m, WrongStrategy, "it serves goal %s, but strategy %s may not move it: %s", g.ID, s.Name, bars[0].why)
			}
		}
		if s := r.rules.strategyOf(m); s != nil && (len(goals.Goals) == 0 || m.DisplacedFor == nil && !r.contributesToGoal(p, goals)) {
			r.report(m, WrongStrategy, "it contributes to no goal of strategy %s: %s", m.Strategy, strings.Join(m.Goals, ", "))
		}
	}
}

// checkSoftMoves checks that moves for soft strategies are single moves, in waves of their own.
func checkSoftMoves(r *verifier, p plan.Plan) {
	firm := map[int]bool{} // waves
	for _, m := range p.Moves {
		s := r.rules.strategyOf(m)
		firm[m.Wave] = firm[m.Wave] || s != nil && !s.Soft
	}
	for _, m := range p.Moves {
		if s := r.rules.strategyOf(m); s != nil && s.Soft && (m.DisplacedFor != nil || firm[m.Wave]) {
			r.report(m, SoftNotApart, "a move for the soft strategy %s is not a single one in a wave of soft moves", s.Name)
		}
	}
}

// checkMostImproved checks that no move is for a strategy if another one states each of its goals about the move with a
// greater weight. Strategies whose own limits or guards may forbid the move are left out.
func checkMostImproved(r *verifier, p plan.Plan) {
	for _, m := range p.Moves {
		own := r.rules.strategyOf(m)
		for i := range r.rules.Strategies {
			s := &r.rules.Strategies[i]
			if own == nil || own.Soft != s.Soft || m.DisplacedFor != nil || mayForbid(s, m) {
				continue
			}
			outweighed, listed := 0, 0
			for _, g := range p.Goals {
				if g.Strategy != own.Name || !slices.Contains(m.Goals, g.ID) {
					continue
				}
				listed++
				if slices.ContainsFunc(p.Goals, func(x plan.Goal) bool {
					return x.Strategy == s.Name && slices.Contains(m.Goals, x.ID) && x.Weight > g.Weight && x.Kind == g.Kind && x.Subject == g.Subject &&
						x.Resource == g.Resource && x.Basis == g.Basis && x.TopologyKey == g.TopologyKey && near(x.Limit, g.Limit) && near(x.Excess, g.Excess)
				}) {
					outweighed++
				}
			}
			if listed > 0 && outweighed == listed {
				r.report(m, WrongStrategy, "strategy %s has the same goals as strategy %s, with greater weights", s.Name, own.Name)
			}
		}
	}
}

// mayForbid reports whether limits or guards of the strategy can keep it from the move in its wave.
func mayForbid(s *StrategyRules, m plan.Move) bool {
	limited := slices.ContainsFunc([]Limit{s.PerPass, s.PerOwner, s.PerHourOwner, s.PerHourCluster}, func(l Limit) bool { return !l.Unlimited })
	return limited || len(s.Protect) > 0
}

func near(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 }
