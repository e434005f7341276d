package schedule

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Strategy is a strategy with the rule for its runs.
type Strategy struct {
	Rule
	Mode     plan.StrategyMode
	Strategy strategy.Strategy
	// Weight multiplies the weights of the goals. Nil means 1.
	Weight *float64
	// Soft makes all goals soft.
	Soft bool
}

// Goals returns the goals of the strategy with its weight, and soft goals for a soft strategy.
func (s *Strategy) Goals(of *cluster.Snapshot) []plan.Goal {
	goals, weight := s.Strategy.Goals(of), 1.0
	if s.Weight != nil {
		weight = *s.Weight
	}
	if weight == 1 && !s.Soft {
		return goals
	}
	for i := range goals {
		goals[i].Weight, goals[i].Soft = plan.Round(goals[i].Weight*weight), s.Soft
	}
	return goals
}

// RulesOf returns the rules of the strategies.
func RulesOf(all []Strategy) (out []Rule) {
	for _, s := range all {
		out = append(out, s.Rule)
	}
	return out
}
