package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RebalanceHistory has the figures of the last 720 hours with a pass, the oldest first.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=rebalancehistories,shortName=rbh,categories=evenkeel
type RebalanceHistory struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=720
	Hours []Hour `json:"hours,omitempty"`
}

// RebalanceHistoryList is a list of histories.
//
// +kubebuilder:object:root=true
type RebalanceHistoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RebalanceHistory `json:"items"`
}

// Hour has the figures of one hour. The score and the unmet goals are those of its last pass.
type Hour struct {
	// Start is the beginning of the hour.
	// +required
	Start metav1.Time `json:"start"`
	// Score is the balance score in per mille; nil if it is unknown. The names are short, so that 720 hours have 64
	// KiB.
	// +optional
	Score *int32 `json:"score,omitempty"`
	// Unmet counts the goals that are not met.
	// +optional
	Unmet int32 `json:"unmet,omitempty"`
	// Evicted counts the evictions, and AsPredicted those whose replacements landed as predicted.
	// +optional
	Evicted int32 `json:"evicted,omitempty"`
	// +optional
	AsPredicted int32 `json:"asPredicted,omitempty"`
}
