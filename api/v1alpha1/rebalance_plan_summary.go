package v1alpha1

// StrategySummary counts the goals of a strategy before the plan.
type StrategySummary struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// +required
	Mode Mode `json:"mode"`
	// Due reports that the pass tries to meet the goals of the strategy.
	// +optional
	Due bool `json:"due,omitempty"`
	// +optional
	Goals int32 `json:"goals,omitempty"`
	// +optional
	Unmet int32 `json:"unmet,omitempty"`
	// +optional
	UnmetAfter int32 `json:"unmetAfter,omitempty"`
	// Settings are the strategy's own scope, limits and guards.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Settings string `json:"settings,omitempty"`
}

// NotMoved counts the pods that stay for one reason, and names the first of them.
type NotMoved struct {
	// +required
	// +kubebuilder:validation:MaxLength=63
	Code string `json:"code"`
	// +required
	Pods int32 `json:"pods"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Samples []NotMovedPod `json:"samples,omitempty"`
}

// NotMovedPod is a pod that stays.
type NotMovedPod struct {
	// +required
	Pod PodReference `json:"pod"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Strategy string `json:"strategy,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Minimum is the proven minimum of evictions. docs/reference/report.md explains it.
type Minimum struct {
	// Evictions is the least number of evictions that meets every goal that permitted evictions can meet.
	// +optional
	Evictions int32 `json:"evictions,omitempty"`
	// ForPlan is the least number of evictions for the result of this plan.
	// +optional
	ForPlan int32 `json:"forPlan,omitempty"`
	// OutOfReach is the share of excess that no permitted eviction removes, times the weight, summed over goals.
	// Unmet is what no single further eviction removes.
	// +optional
	OutOfReach Decimal `json:"outOfReach,omitempty"`
	// +optional
	Unmet Decimal `json:"unmet,omitempty"`
	// BlockedBy says why excess is out of reach.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	BlockedBy []Reason `json:"blockedBy,omitempty"`
}
