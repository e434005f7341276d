package plan

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// GoalKind says what a goal requires.
type GoalKind string

const (
	// NodeBelow requires a resource of a node at or below Limit, a fraction of allocatable.
	NodeBelow GoalKind = "NodeBelow"
	// SkewAtMost requires that the fullest domain of TopologyKey has at most Limit more pods of a
	// group than the emptiest. A move out of Domains does not improve the goal, although the
	// difference may fall.
	SkewAtMost GoalKind = "SkewAtMost"
	// CountAtMost requires that each domain of TopologyKey has at most Limit pods of a group. A
	// move out of Domains does not improve the goal.
	CountAtMost GoalKind = "CountAtMost"
	// PodsApart requires that no two pods of a Conflict run in the same domain.
	PodsApart GoalKind = "PodsApart"
	// PodAway requires that a pod leaves its node.
	PodAway GoalKind = "PodAway"
	// NodeEmpty requires a node without the pods in Pods. The pods leave together, or none leaves for this goal.
	NodeEmpty GoalKind = "NodeEmpty"
	// NoLowerRank requires that no pod moves to a node that its strategy ranks lower than the node
	// of the pod in the snapshot. Nothing violates it at the start, so no pod moves for it.
	NoLowerRank GoalKind = "NoLowerRank"
)

// Conflict is two pods that must not run in the same domain of TopologyKey.
type Conflict struct {
	Pods        [2]cluster.PodID
	TopologyKey string
}

// Basis is the measure of a node's utilization.
type Basis string

const (
	// BasisRequests measures the resource requests of pods.
	BasisRequests Basis = "requests"
	// BasisLoad measures actual usage.
	BasisLoad Basis = "load"
)

// Goal is a condition on the cluster that a strategy states. Strategies also state goals
// that are met today, because the planner must not worsen them.
type Goal struct {
	ID       string    `json:"id"`
	Strategy string    `json:"strategy"`
	Kind     GoalKind  `json:"kind"`
	Subject  ObjectRef `json:"subject"`
	// Group names the pods of SkewAtMost and CountAtMost, if another goal of the strategy is about
	// other pods of the subject, such as those of another ReplicaSet.
	Group string `json:"group,omitempty"`
	// Resource is set for NodeBelow.
	Resource string `json:"resource,omitempty"`
	// Basis is BasisLoad for a NodeBelow on measured usage. Empty means requests.
	Basis Basis `json:"basis,omitempty"`
	// TopologyKey is set for SkewAtMost and CountAtMost.
	TopologyKey string `json:"topologyKey,omitempty"`
	// From is the node that the pod of a PodAway must leave.
	From string `json:"from,omitempty"`
	// Limit is a fraction 0..1 for NodeBelow, and a count of pods for SkewAtMost and CountAtMost.
	Limit  float64 `json:"limit"`
	Weight float64 `json:"weight"`
	// Soft marks a goal of a soft strategy. It does not limit moves for strategies that are not soft.
	Soft bool `json:"soft,omitempty"`
	// Excess is the amount above the limit before the plan: a fraction of allocatable for
	// NodeBelow, skew minus limit for SkewAtMost, conflicts for PodsApart, the fewest pods that
	// must leave for the others. It is 0 if the goal is met.
	Excess float64 `json:"excess"`
	// AtLeast marks a PodsApart that does not count all conflicts, because a term counts only some pods of a domain.
	AtLeast bool `json:"atLeast,omitempty"`
	// Reason is the reason of moves that contribute to this goal.
	Reason Reason `json:"-"`

	// Constraint marks a goal that the plan must not worsen but does not try to meet, because its strategy is not due.
	Constraint bool `json:"-"`
	// Mode is the mode of the strategy. Empty means Automatic.
	Mode StrategyMode `json:"-"`
	// Wait is set for an unmet goal that is a Constraint although its strategy is due. It describes
	// what the strategy waits for: more samples, more under-utilized nodes, or another metric of
	// the node.
	Wait Reason `json:"-"`
	// Amounts are the amounts that NodeBelow counts. Nil means the requests of all pods.
	Amounts *cluster.Amounts `json:"-"`
	// EveryNode marks a NodeBelow of a strategy that limits every node, also those out of scope or excluded.
	EveryNode bool `json:"-"`
	// Node is the subject of NodeBelow and NodeEmpty.
	Node cluster.NodeID `json:"-"`
	// Pods is the group of SkewAtMost and CountAtMost without terminal pods, the pods of the
	// conflicts of PodsApart, the pod of PodAway, or the pods that must leave the node of
	// NodeEmpty.
	Pods []cluster.PodID `json:"-"`
	// Domains are the values of TopologyKey in which the group can run, sorted. Nil, for CountAtMost, means all values.
	Domains []string `json:"-"`
	// NotCounted marks, by node, the nodes whose pods SkewAtMost and CountAtMost do not count. Nil
	// means none. Goals may share the slice.
	NotCounted []bool `json:"-"`
	// Conflicts are the pairs of PodsApart.
	Conflicts []Conflict `json:"-"`
	// Staying are the pods in Conflicts that do not leave for this goal, sorted. Pods has the others.
	Staying []cluster.PodID `json:"-"`
	// Targets marks, by node, the nodes on which the replacement meets a PodAway, or on which the replacements of a
	// NodeEmpty may land. Nil means every other node. Goals may share the slice.
	Targets []bool `json:"-"`
	// Ranks are the ranks of NoLowerRank.
	Ranks *NodeRanks `json:"-"`
	// Leaving are the pods of a NodeEmpty in the plan.
	Leaving []PodRef `json:"leaving,omitempty"`
	// MaxNodes is the largest number of nodes that one plan may empty for the strategy of a
	// NodeEmpty. 0 means no limit.
	MaxNodes int `json:"-"`
	// MayReturn means that the replacement may run on the node that its pod left. It is for PodAway
	// goals that are about the pod and not about its node.
	MayReturn bool `json:"mayReturn,omitempty"`
	// Removal is set for a PodAway about a pod that has ended. It says how the pod is removed.
	Removal Removal `json:"removal,omitempty"`
}
