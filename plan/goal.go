package plan

import "github.com/evenkeel-project/evenkeel/cluster"

// GoalKind says what shape a goal has.
type GoalKind string

const (
	// NodeBelow wants one resource of one node at or below Limit, a fraction
	// of the node's allocatable.
	NodeBelow GoalKind = "NodeBelow"
	// SkewAtMost wants the pods of a group spread over the values of
	// TopologyKey so that the fullest holds at most Limit pods more than the
	// emptiest.
	SkewAtMost GoalKind = "SkewAtMost"
	// NodeEmpty wants every evictable pod gone from a node.
	NodeEmpty GoalKind = "NodeEmpty"
	// PodGone wants one pod gone.
	PodGone GoalKind = "PodGone"
)

// Basis says what the use of a node is.
type Basis string

const (
	// BasisRequests are what pods ask the scheduler for.
	BasisRequests Basis = "requests"
	// BasisLoad is what is really used, as measured.
	BasisLoad Basis = "load"
)

// Goal is a wish of a strategy about the state of the cluster. Strategies state
// also the goals that are met today: the planner may not worsen them.
type Goal struct {
	ID       string    `json:"id"`
	Strategy string    `json:"strategy"`
	Kind     GoalKind  `json:"kind"`
	Subject  ObjectRef `json:"subject"`
	// Resource is set for NodeBelow.
	Resource string `json:"resource,omitempty"`
	// Basis is Load for a NodeBelow by what is used; empty: by requests.
	Basis Basis `json:"basis,omitempty"`
	// TopologyKey is set for SkewAtMost.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Limit is a fraction 0..1 for NodeBelow, a count of pods for SkewAtMost.
	Limit  float64 `json:"limit"`
	Weight float64 `json:"weight"`
	// Excess is what is too much today: a fraction of allocatable for
	// NodeBelow, skew minus limit for SkewAtMost, pods for the others; 0 when
	// the goal is met.
	Excess float64 `json:"excess"`
	// Reason is what a move for this goal gives as its reason.
	Reason Reason `json:"-"`

	// Constraint marks a goal of a strategy that is enabled but not due: it
	// may not be worsened, and nothing is moved for it.
	Constraint bool `json:"-"`
	// WaitReason says why a goal with excess is a Constraint although its strategy is due:
	// that has to be seen for longer. Empty when nothing is awaited, or asked for.
	WaitReason string `json:"-"`
	// Amounts are what NodeBelow counts; nil: the requests of all pods.
	Amounts *cluster.Amounts `json:"-"`
	// Node is the subject of NodeBelow and NodeEmpty.
	Node cluster.NodeID `json:"-"`
	// Pods is the group of SkewAtMost (bound or not; terminal pods left out),
	// or the one pod of PodGone.
	Pods []cluster.PodID `json:"-"`
	// Domains are the values of TopologyKey where the group can run, sorted.
	Domains []string `json:"-"`
}
