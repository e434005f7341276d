package plan

import "github.com/evenkeel-project/evenkeel/cluster"

// GoalKind is the kind of a goal.
type GoalKind string

const (
	// NodeBelow requires a resource of a node at or below Limit, a fraction of allocatable.
	NodeBelow GoalKind = "NodeBelow"
	// SkewAtMost requires that the fullest domain of TopologyKey has at most Limit more pods of a group than the emptiest.
	SkewAtMost GoalKind = "SkewAtMost"
	// NodeEmpty requires a node without evictable pods.
	NodeEmpty GoalKind = "NodeEmpty"
	// PodGone requires the eviction of a pod.
	PodGone GoalKind = "PodGone"
)

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
	// Resource is set for NodeBelow.
	Resource string `json:"resource,omitempty"`
	// Basis is BasisLoad for a NodeBelow on measured usage. Empty means requests.
	Basis Basis `json:"basis,omitempty"`
	// TopologyKey is set for SkewAtMost.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Limit is a fraction 0..1 for NodeBelow, a count of pods for SkewAtMost.
	Limit  float64 `json:"limit"`
	Weight float64 `json:"weight"`
	// Excess is the amount above the limit before the plan: a fraction of allocatable for NodeBelow, skew minus limit
	// for SkewAtMost, and pods for the others. It is 0 if the goal is met.
	Excess float64 `json:"excess"`
	// Reason is the reason of moves that contribute to this goal.
	Reason Reason `json:"-"`

	// Constraint marks a goal that the plan must not worsen but does not try to meet, because its strategy is not due.
	Constraint bool `json:"-"`
	// Mode is the mode of the strategy. Empty means Automatic.
	Mode StrategyMode `json:"-"`
	// WaitReason is set for an unmet goal that is a Constraint although its strategy is due. It describes the samples that
	// the strategy waits for.
	WaitReason string `json:"-"`
	// Amounts are the amounts that NodeBelow counts. Nil means the requests of all pods.
	Amounts *cluster.Amounts `json:"-"`
	// Node is the subject of NodeBelow and NodeEmpty.
	Node cluster.NodeID `json:"-"`
	// Pods is the group of SkewAtMost without terminal pods, or the pod of PodGone.
	Pods []cluster.PodID `json:"-"`
	// Domains are the values of TopologyKey in which the group can run, sorted.
	Domains []string `json:"-"`
}
