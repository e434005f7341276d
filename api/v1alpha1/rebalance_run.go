package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RebalanceRun is a person's request to run strategies now. All limits, windows and pauses apply.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rbr,categories=evenkeel
// +kubebuilder:printcolumn:name="Strategies",type=string,JSONPath=`.spec.strategies`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.by`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.plan`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RebalanceRun struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a request never changes; make a new one"
	Spec RebalanceRunSpec `json:"spec"`
	// +optional
	Status RebalanceRunStatus `json:"status,omitempty"`
}

// RebalanceRunList is a list of requests.
//
// +kubebuilder:object:root=true
type RebalanceRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RebalanceRun `json:"items"`
}

// RebalanceRunSpec says what to run.
type RebalanceRunSpec struct {
	// Strategies are the names of the strategies that are due.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Strategies []string `json:"strategies"`
	// By is the person who asks. The admission policy of the chart requires that it is the name with which the person
	// is authenticated.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	By string `json:"by"`
}

// RunPhase is where a request stands.
//
// +kubebuilder:validation:Enum=Running;Completed;Rejected
type RunPhase string

const (
	// RunRunning: a process has taken the request, and its pass runs.
	RunRunning RunPhase = "Running"
	// RunCompleted: the pass has ended.
	RunCompleted RunPhase = "Completed"
	// RunRejected: no pass runs for the request. Message has the reason.
	RunRejected RunPhase = "Rejected"
)

// RebalanceRunStatus is the answer to a request. It is empty while the request waits.
type RebalanceRunStatus struct {
	// +optional
	Phase RunPhase `json:"phase,omitempty"`
	// Message says why the request was rejected, or why its pass ended early.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// Holder is the process that took the request.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Holder string `json:"holder,omitempty"`
	// RunID identifies the pass in logs and metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RunID string `json:"runID,omitempty"`
	// Plan is the name of the RebalancePlan of the pass. It is empty if the pass stored none, such as a pass without
	// moves.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Plan string `json:"plan,omitempty"`
	// +optional
	Started *metav1.Time `json:"started,omitempty"`
	// +optional
	Finished *metav1.Time `json:"finished,omitempty"`
}
