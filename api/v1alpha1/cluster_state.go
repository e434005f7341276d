package v1alpha1

// ClusterState summarises the cluster.
type ClusterState struct {
	// ScorePerMille is the balance score in per mille; nil if it is unknown.
	// +optional
	ScorePerMille *int32 `json:"scorePerMille,omitempty"`
	// Utilization is the requested share of each resource, and Used the measured one.
	// +optional
	// +listType=map
	// +listMapKey=resource
	// +kubebuilder:validation:MaxItems=16
	Utilization []Distribution `json:"utilization,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=resource
	// +kubebuilder:validation:MaxItems=16
	Used []Distribution `json:"used,omitempty"`
	// Zones groups the nodes by zone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Zones []Zone `json:"zones,omitempty"`
	// Nodes are the 100 most extreme nodes, and those of the moves before others. Workloads are the 100 that the loss
	// of a zone hits worst, and those of the moves before others.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Nodes []NodeState `json:"nodes,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Workloads []WorkloadState `json:"workloads,omitempty"`
}

// Distribution summarises the share of a resource over all nodes, in per mille of allocatable.
type Distribution struct {
	// +required
	// +kubebuilder:validation:MaxLength=317
	Resource string `json:"resource"`
	// +optional
	MaxPerMille int32 `json:"maxPerMille,omitempty"`
	// +optional
	MeanPerMille int32 `json:"meanPerMille,omitempty"`
	// +optional
	StdDevPerMille int32 `json:"stdDevPerMille,omitempty"`
}

// Zone summarises the nodes of a zone.
type Zone struct {
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +optional
	Nodes int32 `json:"nodes,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=resource
	// +kubebuilder:validation:MaxItems=16
	Utilization []Distribution `json:"utilization,omitempty"`
}

// NodeState is a node with its requested and used shares, in per mille of allocatable.
type NodeState struct {
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Zone string `json:"zone,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	RequestedPerMille map[string]int32 `json:"requestedPerMille,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	UsedPerMille map[string]int32 `json:"usedPerMille,omitempty"`
}

// WorkloadState is the distribution of a workload over zones.
type WorkloadState struct {
	// +required
	Workload ObjectReference `json:"workload"`
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Zones map[string]int32 `json:"zones,omitempty"`
	// +optional
	Skew int32 `json:"skew,omitempty"`
	// FailureCategory is the effect of losing the worst zone, from 1 (complete loss) to 4 (minor). It is uncertain if
	// the usage is unknown.
	// +optional
	FailureCategory int32 `json:"failureCategory,omitempty"`
	// +optional
	Uncertain bool `json:"uncertain,omitempty"`
}
