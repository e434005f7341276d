package strategies

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// WithPriority returns the strategy with the weight of its goals multiplied, and with soft goals if soft is true.
func WithPriority(st Strategy, weight float64, soft bool) Strategy {
	if weight == 1 && !soft {
		return st
	}
	return prioritized{st, weight, soft}
}

type prioritized struct {
	Strategy
	weight float64
	soft   bool
}

func (p prioritized) Goals(s *cluster.Snapshot) []plan.Goal {
	goals := p.Strategy.Goals(s)
	for i := range goals {
		goals[i].Weight, goals[i].Soft = plan.Round(goals[i].Weight*p.weight), p.soft
	}
	return goals
}

// WhyNoGoal says why a strategy states no goal about the pod: a strategy that removes pods that have ended about such a
// pod, and a strategy whose data about the node of another pod is unknown. It returns "" for other strategies, and if
// there is a goal.
func WhyNoGoal(st Strategy, s *cluster.Snapshot, p *cluster.Pod) string {
	if of, ok := st.(prioritized); ok {
		st = of.Strategy
	}
	if !p.Terminal {
		if of, ok := st.(interface {
			WhyUnknown(s *cluster.Snapshot, n cluster.NodeID) string
		}); ok && p.Node != cluster.NoNode {
			return of.WhyUnknown(s, p.Node)
		}
		return ""
	}
	if of, ok := st.(interface {
		WhyNoGoal(s *cluster.Snapshot, p *cluster.Pod) string
	}); ok {
		return of.WhyNoGoal(s, p)
	}
	return ""
}
