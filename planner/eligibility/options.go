package eligibility

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"k8s.io/apimachinery/pkg/labels"
)

// Options are the rules and limits that do not depend on where a replacement lands.
type Options struct {
	Guards   guard.Options
	InFlight InFlight
	// MaxUnavailableWithoutPDB limits the unavailable pods of a workload that no PodDisruptionBudget selects.
	MaxUnavailableWithoutPDB int
	// Pressure is the hint that marks nodes under pressure.
	Pressure pressure.Mark
	// MinReplacementAge is the least age at which the replacement of an evicted pod may be evicted.
	MinReplacementAge time.Duration
	// Strategies lists all enabled strategies in order, so that the plan can report strategies without a goal.
	Strategies []Strategy
	// Mode is the mode of the strategies for which moves are made. Empty means every mode.
	Mode plan.StrategyMode
}

// InFlight bounds the evictions of one wave: pods in flight at once.
type InFlight struct {
	Total, PerNode, PerOwner int
}

// Strategy describes an enabled strategy, whether the strategy is due in this pass or not.
type Strategy struct {
	Name string
	// Needs describes in words what the strategy needs before it can request a goal.
	Needs string
	// Declared says that its goals exist only where pods declare something.
	Declared bool
	// ByLoad lists the resources whose usage the strategy needs.
	ByLoad []string
	// Mode says who decides about the strategy's moves. Empty means plan.Automatic.
	Mode plan.StrategyMode
	// Own holds the rules that only moves for this strategy obey, besides those of Options. Nil means none.
	Own *StrategyRules
	// Soft says that moves for the strategy come after those for all others, and worsen no goal.
	Soft bool
	// LandingNotRequired says that the strategy may move a pod although no place is predicted for its replacement.
	LandingNotRequired bool
	// Packs says that the strategy fills some nodes to empty others.
	Packs bool
	// Settings holds the strategy's own settings for the plan. Nil means none.
	Settings *plan.StrategySettings
}

// StrategyRules are the rules that moves for one strategy obey, besides the global ones.
type StrategyRules struct {
	// Scope is the global scope, narrowed by the strategy.
	Scope cluster.Scope
	// NodeSelector selects the nodes that pods may leave for the strategy. Nil selects all.
	NodeSelector labels.Selector
	// PodSelector selects the pods that may move for the strategy. Nil selects all.
	PodSelector labels.Selector
	// Guards are the global guards with the strategy's own values. Nil means that the strategy has none.
	Guards *guard.Options
	// Limits apply to the moves for the strategy. Nil means that the strategy has no limits of its own.
	Limits *limits.Options
	// Discarded holds, by the UID of the pod, the moves for the strategy that a person discarded. See WithDiscarded.
	Discarded map[string]plan.DiscardedMove
}

// StrategyIndex returns the index of a strategy in o.Strategies, or limits.NoStrategy.
func (o *Options) StrategyIndex(name string) int {
	return slices.IndexFunc(o.Strategies, func(s Strategy) bool { return s.Name == name })
}

// HasStrategyRules reports whether any strategy has rules of its own.
func (o *Options) HasStrategyRules() bool {
	return slices.ContainsFunc(o.Strategies, func(s Strategy) bool { return s.Own != nil })
}

// HasRulesForMoves reports whether a strategy for which moves are made has rules of its own.
func (o *Options) HasRulesForMoves() bool {
	return slices.ContainsFunc(o.Strategies, func(s Strategy) bool { return s.Own != nil && o.MovesFor(&s) })
}

// MovesFor reports whether moves are made for the strategy: in Mode, or in every mode.
func (o *Options) MovesFor(s *Strategy) bool {
	return o.Mode == "" || o.Mode == cmp.Or(s.Mode, plan.Automatic)
}

// NeedsNoPlace reports whether the strategy may move a pod although no place is predicted for its replacement.
func (o *Options) NeedsNoPlace(strategy string) bool {
	i := o.StrategyIndex(strategy)
	return i != limits.NoStrategy && o.Strategies[i].LandingNotRequired
}

// RulesOf returns the own rules of the strategy with this index, or nil.
func (o *Options) RulesOf(strategy int) *StrategyRules {
	if strategy < 0 || strategy >= len(o.Strategies) {
		return nil
	}
	return o.Strategies[strategy].Own
}

// SelectsNodes returns a function that reports whether a strategy has a nodeSelector of its own, or nil if none has.
func (o *Options) SelectsNodes() func(strategy string) bool {
	var names []string
	for i := range o.Strategies {
		if own := o.Strategies[i].Own; own != nil && own.NodeSelector != nil {
			names = append(names, o.Strategies[i].Name)
		}
	}
	if names == nil {
		return nil
	}
	return func(strategy string) bool { return slices.Contains(names, strategy) }
}

// WithDiscarded returns the options with the discarded moves that hold at the time now, as rules of the strategies in
// mode approve. It returns o itself if there are none.
func (o *Options) WithDiscarded(moves []plan.DiscardedMove, now time.Time) *Options {
	out := o
	for _, d := range moves {
		i := o.StrategyIndex(d.Strategy)
		if i < 0 || o.Strategies[i].Mode != plan.Approve || !now.Before(d.Until) {
			continue
		}
		if out == o {
			changed := *o
			changed.Strategies = slices.Clone(o.Strategies)
			out = &changed
		}
		s := &out.Strategies[i]
		if s.Own == nil {
			s.Own = &StrategyRules{Scope: o.Guards.Scope}
		}
		if s.Own.Discarded == nil {
			own := *s.Own
			own.Discarded = map[string]plan.DiscardedMove{}
			s.Own = &own
		}
		if known, twice := s.Own.Discarded[d.PodUID]; !twice || known.Until.Before(d.Until) {
			s.Own.Discarded[d.PodUID] = d
		}
	}
	return out
}
