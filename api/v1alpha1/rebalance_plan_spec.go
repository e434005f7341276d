package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decimal is a number with at most three digits after the point, such as -0.125. It is empty for 0.
//
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^-?[0-9]{1,15}(\.[0-9]{1,3})?$`
type Decimal string

// Mode says who decides about the moves of a plan.
//
// +kubebuilder:validation:Enum=Automatic;Approve;DryRun
type Mode string

const (
	// ModeAutomatic: the pass that made the plan executes it.
	ModeAutomatic Mode = "Automatic"
	// ModeApprove: the moves wait for the decision of a person.
	ModeApprove Mode = "Approve"
	// ModeDryRun: the plan is only shown.
	ModeDryRun Mode = "DryRun"
)

// RebalancePlanSpec is a plan: the moves in the order of their execution, why each is made, what is not moved and why,
// and the cluster before and after. A large plan is cut: Omitted counts what is left out.
type RebalancePlanSpec struct {
	// ID is a hash of the content of the whole plan.
	// +required
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`
	// +required
	Mode Mode `json:"mode"`
	// StrategyNames names the strategies that were due, for `kubectl get`.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	StrategyNames string `json:"strategyNames,omitempty"`
	// MoveCount counts the moves of the whole plan.
	// +optional
	MoveCount int32 `json:"moveCount,omitempty"`
	// Score is the balance score before and after the plan, such as 81 -> 93. It is empty if the score is unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Score string `json:"score,omitempty"`
	// TakenAt is the time of the snapshot.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	TakenAt metav1.Time `json:"takenAt"`
	// Expires is when the plan must not be executed any more.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Expires metav1.Time `json:"expires"`
	// +required
	Cluster ClusterReference `json:"cluster"`
	// ConfigHash identifies the configuration with which the plan was made. Only a process with the same configuration
	// executes the plan.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ConfigHash string `json:"configHash,omitempty"`
	// Moves are the moves in the order of their execution, in whole waves.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Moves []Move `json:"moves,omitempty"`
	// Hints are the nodes that carry a hint during a wave.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Hints []WaveHints `json:"hints,omitempty"`
	// Goals are the goals that were not met before the plan, the goals of the moves first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Goals []Goal `json:"goals,omitempty"`
	// Strategies are all enabled strategies. Those of a proposal are the ones in its mode.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Strategies []StrategySummary `json:"strategies,omitempty"`
	// NotMoved counts the pods that stay, by reason.
	// +optional
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MaxItems=200
	NotMoved []NotMoved `json:"notMoved,omitempty"`
	// Minimum is the proven minimum of evictions.
	// +optional
	Minimum Minimum `json:"minimum,omitempty"`
	// Before and After are the cluster at the snapshot, and as predicted after the last move.
	// +optional
	Before ClusterState `json:"before,omitempty"`
	// +optional
	After ClusterState `json:"after,omitempty"`
	// Inputs are the sources of data.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Inputs []Input `json:"inputs,omitempty"`
	// Notices say what else a person should know: why nothing happened, what blocks evictions, why the search ended
	// early, and other programs that evict.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Notices []Notice `json:"notices,omitempty"`
	// +optional
	Omitted *Omitted `json:"omitted,omitempty"`
}

// ClusterReference identifies a cluster.
type ClusterReference struct {
	// UID is that of the namespace kube-system.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`
	// Version is the minor version of the server, such as 1.37.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`
}

// Reason is a reason with its code. docs/reference/reasons.md lists the codes.
type Reason struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Code string `json:"code"`
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// PodReference identifies one pod.
type PodReference struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`
}

// ObjectReference identifies another object. Namespace is empty for cluster-scoped objects, and for the owner of a
// move, which is in the namespace of the pod.
type ObjectReference struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	APIVersion string `json:"apiVersion,omitempty"`
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid,omitempty"`
}

// Move is one pod to evict, with the predicted landing of its replacement.
type Move struct {
	// Step is the number of the move, and Wave that of its wave, from 1.
	// +required
	Step int32 `json:"step"`
	// +required
	Wave int32 `json:"wave"`
	// +required
	Pod PodReference `json:"pod"`
	// Owner is the workload of the pod.
	// +required
	Owner ObjectReference `json:"owner"`
	// Strategy is the strategy that the move serves most.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy,omitempty"`
	// +required
	Reason Reason `json:"reason"`
	// Goals are the IDs of the goals that the move serves.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=32
	Goals []string `json:"goals,omitempty"`
	// +required
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from"`
	// To is the likeliest node of the replacement. It is empty if no replacement follows, or no node is predicted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	To string `json:"to,omitempty"`
	// AcceptableNodes counts the nodes on which the goals of the move are still served.
	// +optional
	AcceptableNodes int32 `json:"acceptableNodes,omitempty"`
	// ConfidencePerMille is how likely the replacement lands on an acceptable node. ReturnPerMille and PendingPerMille
	// are how likely it returns to its node, and finds no node.
	// +optional
	ConfidencePerMille int32 `json:"confidencePerMille,omitempty"`
	// +optional
	ReturnPerMille int32 `json:"returnPerMille,omitempty"`
	// +optional
	PendingPerMille int32 `json:"pendingPerMille,omitempty"`
	// Steer is the kind of the hint that the prediction needs: none, label or taint.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Steer string `json:"steer,omitempty"`
	// Benefit is what the move improves, in the order of merit of the planner.
	// +optional
	Benefit Decimal `json:"benefit,omitempty"`
	// Priority is that of the pod.
	// +optional
	Priority int32 `json:"priority,omitempty"`
	// Removal, RequestOnly and Landing describe moves of another kind: of a pod that has ended, of a pod that its
	// operator moves, and without a predicted place.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Removal string `json:"removal,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RequestOnly string `json:"requestOnly,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Landing string `json:"landing,omitempty"`
	// DisplacedFor is the pod for which this move makes room.
	// +optional
	DisplacedFor *PodReference `json:"displacedFor,omitempty"`
}

// WaveHints lists the nodes that carry a hint from before the first eviction of a wave until its replacements are
// bound.
type WaveHints struct {
	// +required
	Wave int32 `json:"wave"`
	// Kind is label or taint.
	// +required
	// +kubebuilder:validation:MaxLength=16
	Kind string `json:"kind"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MaxLength=253
	Nodes []string `json:"nodes,omitempty"`
}

// Goal is a condition of a strategy that was not met before the plan.
type Goal struct {
	// +required
	// +kubebuilder:validation:MaxLength=32
	ID string `json:"id"`
	// +required
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy"`
	// +required
	// +kubebuilder:validation:MaxLength=32
	Kind string `json:"kind"`
	// +required
	Subject ObjectReference `json:"subject"`
	// Group names the pods of the subject that the goal is about, if these are not all.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource,omitempty"`
	// Basis is load for a goal about measured usage, and empty for requests.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Basis string `json:"basis,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=317
	TopologyKey string `json:"topologyKey,omitempty"`
	// From is the node that a pod must leave.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from,omitempty"`
	// Limit is a share of allocatable for a node, and a number of pods otherwise. ExcessBefore and ExcessAfter are the
	// amounts above it.
	// +optional
	Limit Decimal `json:"limit,omitempty"`
	// +optional
	Weight Decimal `json:"weight,omitempty"`
	// +optional
	ExcessBefore Decimal `json:"excessBefore,omitempty"`
	// +optional
	ExcessAfter Decimal `json:"excessAfter,omitempty"`
	// Unmet says why the goal stays unmet.
	// +optional
	Unmet *Reason `json:"unmet,omitempty"`
	// Leaving counts the pods that leave a node that is emptied.
	// +optional
	Leaving int32 `json:"leaving,omitempty"`
}

// Input is a source of data and its state.
type Input struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Source string `json:"source"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Statistic string `json:"statistic,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Age string `json:"age,omitempty"`
	// CoveragePerMille is the share of nodes with data.
	// +optional
	CoveragePerMille int32 `json:"coveragePerMille,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=1024
	Problems []string `json:"problems,omitempty"`
}

// Notice is something that a person should know about the pass. Strategy is empty if the notice is about the whole
// pass.
type Notice struct {
	Reason `json:",inline"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy,omitempty"`
}

// Omitted counts what the object leaves out. Moves that are left out can neither be approved nor executed from this
// object.
type Omitted struct {
	// +optional
	Moves int32 `json:"moves,omitempty"`
	// +optional
	Goals int32 `json:"goals,omitempty"`
	// +optional
	Nodes int32 `json:"nodes,omitempty"`
	// +optional
	Workloads int32 `json:"workloads,omitempty"`
}
