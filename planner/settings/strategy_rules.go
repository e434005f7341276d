package settings

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// NoStrategy is the index of a strategy that is not in Options.Strategies, or of no strategy.
const NoStrategy = -1

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
	// MinConfidence holds besides Options.MinConfidence: the greater applies. 0 means that the strategy has none.
	MinConfidence float64
	// MaxUnavailableWithoutPDB holds besides Options.MaxUnavailableWithoutPDB: the smaller applies. Nil means that the
	// strategy has none.
	MaxUnavailableWithoutPDB *int
	// Limits bound the moves for the strategy. Nil means that the strategy has none.
	Limits *Limits
	// Discarded holds, by the UID of the pod, the moves for the strategy that a person discarded. See WithDiscarded.
	Discarded map[string]plan.DiscardedMove
}

// StrategyIndex returns the index of a strategy in o.Strategies, or NoStrategy.
func (o *Options) StrategyIndex(name string) int {
	return slices.IndexFunc(o.Strategies, func(s StrategyInfo) bool { return s.Name == name })
}

// HasStrategyRules reports whether any strategy has rules of its own.
func (o *Options) HasStrategyRules() bool {
	return slices.ContainsFunc(o.Strategies, func(s StrategyInfo) bool { return s.Own != nil })
}

// HasRulesForMoves reports whether a strategy for which moves are made has rules of its own.
func (o *Options) HasRulesForMoves() bool {
	return slices.ContainsFunc(o.Strategies, func(s StrategyInfo) bool { return s.Own != nil && o.MovesFor(&s) })
}

// MovesFor reports whether moves are made for the strategy: in Mode, or in every mode.
func (o *Options) MovesFor(s *StrategyInfo) bool {
	return o.Mode == "" || o.Mode == cmp.Or(s.Mode, plan.Automatic)
}

// NeedsNoPlace reports whether the strategy may move a pod although no place is predicted for its replacement.
func (o *Options) NeedsNoPlace(strategy string) bool {
	i := o.StrategyIndex(strategy)
	return i != NoStrategy && o.Strategies[i].LandingNotRequired
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
