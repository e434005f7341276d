package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RebalancePlan is the plan of a pass, the decision of a person about it, and what happened. Its spec never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rbp,categories=evenkeel
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:selectablefield:JSONPath=`.status.closed`
// +kubebuilder:printcolumn:name="Strategies",type=string,JSONPath=`.spec.strategyNames`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Moves",type=integer,JSONPath=`.spec.moveCount`
// +kubebuilder:printcolumn:name="Evicted",type=integer,JSONPath=`.status.evicted`
// +kubebuilder:printcolumn:name="As predicted",type=integer,JSONPath=`.status.asPredicted`
// +kubebuilder:printcolumn:name="Score",type=string,JSONPath=`.spec.score`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RebalancePlan struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the plan.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a plan never changes; make a new one"
	Spec RebalancePlanSpec `json:"spec"`
	// Decision selects the steps that a person approves or discards. It may change until the plan is closed. A decision
	// that is set together with the object is ignored.
	// +optional
	Decision *Decision `json:"decision,omitempty"`
	// +optional
	Status RebalancePlanStatus `json:"status,omitempty,omitzero"`
}

// RebalancePlanList is a list of plans.
//
// +kubebuilder:object:root=true
type RebalancePlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RebalancePlan `json:"items"`
}

// Decision says which steps of a plan a person approves or discards. A step in both is discarded. Steps that belong
// together, because one makes room for another or because they empty a node, are decided together. After a change of
// the decision, approved steps that were blocked or dropped before are tried again.
type Decision struct {
	// Approve selects the steps that may be executed.
	// +optional
	Approve *StepSelection `json:"approve,omitempty"`
	// Discard selects the steps that are not executed. Their strategies do not propose them again before
	// approvals.validFor has passed.
	// +optional
	Discard *StepSelection `json:"discard,omitempty"`
	// By is the name of the person who decides. The admission policy of the chart requires that it is the name with
	// which the person is authenticated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	By string `json:"by"`
}

// StepSelection selects steps of a plan.
//
// +kubebuilder:validation:MinProperties=1
type StepSelection struct {
	// All selects every step that waits.
	// +optional
	All bool `json:"all,omitempty"`
	// Strategies selects the steps of these strategies.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	Strategies []string `json:"strategies,omitempty"`
	// Steps selects steps by their numbers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Steps []int32 `json:"steps,omitempty"`
}

// Phase is where a plan stands.
//
// +kubebuilder:validation:Enum=Waiting;Approved;Running;Completed;Stopped;DryRun;Discarded;Expired;Replaced;Refused
type Phase string

const (
	// PhaseWaiting: steps wait for the decision of a person.
	PhaseWaiting Phase = "Waiting"
	// PhaseApproved: steps are approved, and not executed yet.
	PhaseApproved Phase = "Approved"
	// PhaseRunning: a process executes steps.
	PhaseRunning Phase = "Running"
	// PhaseCompleted: every step has an outcome.
	PhaseCompleted Phase = "Completed"
	// PhaseStopped: the pass ended early. Stopped has the reason.
	PhaseStopped Phase = "Stopped"
	// PhaseDryRun: the plan is only shown.
	PhaseDryRun Phase = "DryRun"
	// PhaseDiscarded: a person discarded every step that was not executed.
	PhaseDiscarded Phase = "Discarded"
	// PhaseExpired: nobody decided before the plan expired.
	PhaseExpired Phase = "Expired"
	// PhaseReplaced: a newer plan has other moves for the same strategies.
	PhaseReplaced Phase = "Replaced"
	// PhaseRefused: the plan cannot be executed. Stopped has the reason.
	PhaseRefused Phase = "Refused"
)

// RebalancePlanStatus is what the controller knows about the execution of a plan.
type RebalancePlanStatus struct {
	// ObservedGeneration is the generation of the object whose decision this status takes into account.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Message says why a plan does not wait any more.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// Foreign reports that the controller did not make the plan: somebody who may create plans handed it over.
	// +optional
	Foreign bool `json:"foreign,omitempty"`
	// Closed reports that no decision about the plan has an effect any more.
	// +optional
	Closed bool `json:"closed,omitempty"`
	// RunID identifies the pass in logs and metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RunID string `json:"runID,omitempty"`
	// Holder is the process that executes the plan, or executed it last. Attempts counts the processes that did.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Holder string `json:"holder,omitempty"`
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// Started and Finished are the times of the pass that executed steps last.
	// +optional
	Started *metav1.Time `json:"started,omitempty"`
	// +optional
	Finished *metav1.Time `json:"finished,omitempty"`
	// Evicted counts the steps whose pods were evicted, and AsPredicted those of them that landed as predicted.
	// +optional
	Evicted int32 `json:"evicted,omitempty"`
	// +optional
	AsPredicted int32 `json:"asPredicted,omitempty"`
	// Stopped is the reason why the pass ended early, or why the plan was refused.
	// +optional
	Stopped *Reason `json:"stopped,omitempty"`
	// Steps has an entry for each step about which something is known.
	// +optional
	// +listType=map
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=2000
	Steps []StepStatus `json:"steps,omitempty"`
}

// StepState says what became of a step.
//
// +kubebuilder:validation:Enum=Approved;Discarded;Replaced;Evicted;WouldEvict;Blocked;Gone;Unknown;InProgress;Dropped
type StepState string

const (
	StepApproved  StepState = "Approved"
	StepDiscarded StepState = "Discarded"
	// StepReplaced: a newer plan has other moves for the strategy.
	StepReplaced StepState = "Replaced"
	StepEvicted  StepState = "Evicted"
	// StepWouldEvict: a dry run would have evicted the pod.
	StepWouldEvict StepState = "WouldEvict"
	StepBlocked    StepState = "Blocked"
	// StepGone: the pod was gone before.
	StepGone StepState = "Gone"
	// StepUnknown: the API server gave no answer, so the pod may have been evicted.
	StepUnknown StepState = "Unknown"
	// StepInProgress: another program has accepted the eviction, and executes it later.
	StepInProgress StepState = "InProgress"
	StepDropped    StepState = "Dropped"
)

// StepStatus is what is known about a step.
type StepStatus struct {
	// +required
	Step int32 `json:"step"`
	// +required
	State StepState `json:"state"`
	// Reason says why the step was not executed as planned.
	// +optional
	Reason *Reason `json:"reason,omitempty"`
	// DecidedBy is the person who approved or discarded the step, as the object named the person when the controller
	// read the decision.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DecidedBy string `json:"decidedBy,omitempty"`
	// DecidedAt is when the controller read the decision.
	// +optional
	DecidedAt *metav1.Time `json:"decidedAt,omitempty"`
	// EvictedAt is when the eviction was accepted, or the pod was found gone; otherwise when the eviction was reserved.
	// +optional
	EvictedAt *metav1.Time `json:"evictedAt,omitempty"`
	// Replacement is the pod that followed.
	// +optional
	Replacement *PodReference `json:"replacement,omitempty"`
	// Landed is the node of the replacement.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Landed string `json:"landed,omitempty"`
	// AsPredicted reports that the replacement landed on a node that the plan accepts.
	// +optional
	AsPredicted bool `json:"asPredicted,omitempty"`
	// ReadyAfter is how long after the eviction the replacement became Ready.
	// +optional
	ReadyAfter *metav1.Duration `json:"readyAfter,omitempty"`
}
