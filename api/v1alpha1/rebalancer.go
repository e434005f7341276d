package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rebalancer is one release of Evenkeel: what it does now, and what waits for a person. The controller creates it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rbl,categories=evenkeel
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="Started by",type=string,JSONPath=`.status.schedule`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Paused by",type=string,JSONPath=`.spec.pause.by`
// +kubebuilder:printcolumn:name="Evicting",type=string,JSONPath=`.status.conditions[?(@.type=="Evicting")].status`
// +kubebuilder:printcolumn:name="Score/1000",type=integer,JSONPath=`.status.scorePerMille`
// +kubebuilder:printcolumn:name="Unmet goals",type=integer,JSONPath=`.status.unmetGoals`
// +kubebuilder:printcolumn:name="Last pass",type=date,JSONPath=`.status.lastPass.finished`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Rebalancer struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +optional
	Spec RebalancerSpec `json:"spec,omitempty"`
	// +optional
	Status RebalancerStatus `json:"status,omitempty"`
}

// RebalancerList is a list of releases.
//
// +kubebuilder:object:root=true
type RebalancerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Rebalancer `json:"items"`
}

// RebalancerSpec is what a person demands of a release. The rest of the configuration is in its config.yaml.
type RebalancerSpec struct {
	// Pause stops all evictions while it is set and has not ended. Removing it resumes them.
	// +optional
	Pause *Pause `json:"pause,omitempty"`
}

// Pause is a pause of evictions.
type Pause struct {
	// By is the person who paused.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	By string `json:"by,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Reason string `json:"reason,omitempty"`
	// Since is when the pause began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when the pause ends by itself. Without it, a person must end the pause.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// Conditions of a Rebalancer.
const (
	// ConditionReady: a process leads, its passes run, and it can read and write what it needs.
	ConditionReady = "Ready"
	// ConditionPaused: a person has paused evictions.
	ConditionPaused = "Paused"
	// ConditionJudging: the last pass could judge the cluster.
	ConditionJudging = "Judging"
	// ConditionEvicting: the next pass may evict. The reason says what forbids it.
	ConditionEvicting = "Evicting"
)

// RebalancerStatus is the state of a release after its last pass.
type RebalancerStatus struct {
	// ObservedGeneration is the generation of the spec that the controller read last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Mode is Live if passes may evict, and DryRun otherwise.
	// +optional
	// +kubebuilder:validation:Enum=Live;DryRun
	Mode string `json:"mode,omitempty"`
	// Version is that of the program.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`
	// ConfigHash identifies the configuration in effect.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ConfigHash string `json:"configHash,omitempty"`
	// Leader is the process that made the last pass.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Leader string `json:"leader,omitempty"`
	// Schedule says how passes are started: Deployment for a process that stays, CronJob for one job for each pass, and
	// Command if only commands of persons have made passes.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Schedule string `json:"schedule,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ScorePerMille is the balance score before the last pass that planned; nil if it is unknown.
	// +optional
	ScorePerMille *int32 `json:"scorePerMille,omitempty"`
	// UnmetGoals counts the goals that were not met before the last pass that planned.
	// +optional
	UnmetGoals int32 `json:"unmetGoals,omitempty"`
	// +optional
	LastPass *PassSummary `json:"lastPass,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Strategies []StrategyStatus `json:"strategies,omitempty"`
	// Breaker is the reason why the breaker forbids evictions.
	// +optional
	Breaker *BreakerStatus `json:"breaker,omitempty"`
	// Limits are the limits by hour, with the evictions that count against them now.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Limits []LimitStatus `json:"limits,omitempty"`
	// Waiting are the plans that wait for a decision, or for the execution of approved steps.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Waiting []WaitingPlan `json:"waiting,omitempty"`
	// Inputs are the sources of data at the last pass.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Inputs []Input `json:"inputs,omitempty"`
	// Notices are those of the last pass.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Notices []Notice `json:"notices,omitempty"`
}

// PassSummary is the result of a pass.
type PassSummary struct {
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RunID string `json:"runID,omitempty"`
	// Plan is the name of the RebalancePlan. It is empty if the pass stored none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Plan string `json:"plan,omitempty"`
	// +optional
	Started *metav1.Time `json:"started,omitempty"`
	// +optional
	Finished *metav1.Time `json:"finished,omitempty"`
	// +optional
	Moves int32 `json:"moves,omitempty"`
	// +optional
	Proposed int32 `json:"proposed,omitempty"`
	// +optional
	Evicted int32 `json:"evicted,omitempty"`
	// +optional
	AsPredicted int32 `json:"asPredicted,omitempty"`
	// Stopped is the reason why the pass ended early.
	// +optional
	Stopped *Reason `json:"stopped,omitempty"`
}

// StrategyStatus is the state of a strategy.
type StrategyStatus struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// LastPass and NextPass are the times of its passes. NextPass is empty without a schedule, and in the past if the
	// pass did not begin then.
	// +optional
	LastPass *metav1.Time `json:"lastPass,omitempty"`
	// +optional
	NextPass *metav1.Time `json:"nextPass,omitempty"`
	// +optional
	UnmetGoals int32 `json:"unmetGoals,omitempty"`
}

// BreakerStatus says why the breaker is open.
type BreakerStatus struct {
	// +required
	At metav1.Time `json:"at"`
	// Until is the earliest time at which it closes.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// +required
	Reason Reason `json:"reason"`
}

// LimitStatus is the use of a limit.
type LimitStatus struct {
	// Limit is the key of the configuration, such as limits.perHour.cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Limit string `json:"limit"`
	// UsedPerMille is 1000 if no further eviction is permitted.
	// +optional
	UsedPerMille int32 `json:"usedPerMille,omitempty"`
}

// WaitingPlan is a plan that waits.
type WaitingPlan struct {
	// Name is that of the RebalancePlan.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Steps counts the steps that wait for a decision, and Approved those that wait for their execution.
	// +optional
	Steps int32 `json:"steps,omitempty"`
	// +optional
	Approved int32 `json:"approved,omitempty"`
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`
}
