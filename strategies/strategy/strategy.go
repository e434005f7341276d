// Package strategy defines what a strategy with its arguments is for the rest of the program: what it states, and what
// it needs. It decides nothing.
package strategy

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Strategy is a strategy with its arguments. Only Goals must be set.
type Strategy struct {
	// Goals states goals. It returns the same goals in the same order for the same snapshot.
	Goals func(s *cluster.Snapshot) []plan.Goal
	// Requirements describes what a snapshot must contain before the strategy states a goal, such as "a Ready node with
	// cpu, in scope". The text depends only on the arguments. It is "" for a strategy that states goals only about
	// violations: if it has no goal, nothing is missing.
	Requirements string
	// Declared says that goals exist only where pods declare something. Without goals, nothing is missing or judged.
	Declared bool
	Usage    UsageNeeds
	// Warnings are the arguments that are valid but probably mistakes.
	Warnings []arg.Error
	// WhyNoGoal says why the strategy states no goal about a pod that has ended, and WhyUnknown why it knows too little
	// to state one about a node. Both return "" if the strategy states a goal or knows enough.
	WhyNoGoal  func(s *cluster.Snapshot, p *cluster.Pod) string
	WhyUnknown func(s *cluster.Snapshot, n cluster.NodeID) string
	// KeepEmptyFor is how long a hint keeps new pods away from a node after the strategy has emptied it, or since the
	// hint was renewed. 0 means that there is no such hint.
	KeepEmptyFor time.Duration
	// EmptyNodes returns the nodes that have no pods that must leave, and that the strategy would empty if a pod landed
	// there. It is set only if KeepEmptyFor is.
	EmptyNodes func(s *cluster.Snapshot) []cluster.NodeID
}

// UsageNeeds is the measured usage that a strategy needs with its arguments. The zero value needs no usage.
type UsageNeeds struct {
	// Required reports whether the strategy needs a source of usage.
	Required bool
	// Resources are the resources of nodes whose usage must be known, sorted.
	Resources []string
	// Paths are the arguments that name the resources, such as target.cpu, by resource.
	Paths map[string]string
	// Watches are the levels to compare with every sample between passes. The list is empty if one sample is enough.
	Watches []Watch
}

// Watch is a level for one resource of all nodes. A node is hot after For consecutive samples above the level.
type Watch struct {
	// Name is the name of the strategy.
	Name, Resource string
	// Target is the level, as a fraction of allocatable. If Target is 0, the level is the mean of
	// the nodes in scope plus Deviation.
	Target, Deviation float64
	For               int
}
