package descheduler

// The policy in the format v1alpha1.
type oldPolicy struct {
	typeMeta
	Strategies                     map[string]oldStrategy `json:"strategies"`
	NodeSelector                   *string                `json:"nodeSelector"`
	EvictFailedBarePods            *bool                  `json:"evictFailedBarePods"`
	EvictLocalStoragePods          *bool                  `json:"evictLocalStoragePods"`
	EvictSystemCriticalPods        *bool                  `json:"evictSystemCriticalPods"`
	EvictDaemonSetPods             *bool                  `json:"evictDaemonSetPods"`
	IgnorePVCPods                  *bool                  `json:"ignorePvcPods"`
	MaxNoOfPodsToEvictPerNode      *int                   `json:"maxNoOfPodsToEvictPerNode"`
	MaxNoOfPodsToEvictPerNamespace *int                   `json:"maxNoOfPodsToEvictPerNamespace"`
	MaxNoOfPodsToEvictTotal        *int                   `json:"maxNoOfPodsToEvictTotal"`
}

type taints struct {
	IncludePreferNoSchedule bool     `json:"includePreferNoSchedule"`
	ExcludedTaints          []string `json:"excludedTaints"`
	IncludedTaints          []string `json:"includedTaints"`
}

type oldStrategy struct {
	Enabled bool       `json:"enabled"`
	Weight  int        `json:"weight"`
	Params  *oldParams `json:"params"`
}

type oldParams struct {
	NodeResourceUtilizationThresholds *thresholds     `json:"nodeResourceUtilizationThresholds"`
	NodeAffinityType                  []string        `json:"nodeAffinityType"`
	PodsHavingTooManyRestarts         *restarts       `json:"podsHavingTooManyRestarts"`
	PodLifeTime                       *oldPodLifeTime `json:"podLifeTime"`
	RemoveDuplicates                  *oldDuplicates  `json:"removeDuplicates"`
	FailedPods                        *failedPods     `json:"failedPods"`
	IncludeSoftConstraints            *bool           `json:"includeSoftConstraints"`
	podScope
	taints
	ThresholdPriority          *int   `json:"thresholdPriority"`
	ThresholdPriorityClassName string `json:"thresholdPriorityClassName"`
	NodeFit                    bool   `json:"nodeFit"`
}

type thresholds struct {
	UseDeviationThresholds bool               `json:"useDeviationThresholds"`
	Thresholds             map[string]float64 `json:"thresholds"`
	TargetThresholds       map[string]float64 `json:"targetThresholds"`
	NumberOfNodes          int                `json:"numberOfNodes"`
}

type restarts struct {
	PodRestartThreshold     int      `json:"podRestartThreshold"`
	IncludingInitContainers bool     `json:"includingInitContainers"`
	States                  []string `json:"states"`
}

type oldDuplicates struct {
	ExcludeOwnerKinds []string `json:"excludeOwnerKinds"`
}

type oldPodLifeTime struct {
	MaxPodLifeTimeSeconds   *int     `json:"maxPodLifeTimeSeconds"`
	States                  []string `json:"states"`
	PodStatusPhases         []string `json:"podStatusPhases"`
	IncludingInitContainers bool     `json:"includingInitContainers"`
}

type failedPods struct {
	ExcludeOwnerKinds       []string `json:"excludeOwnerKinds"`
	MinPodLifetimeSeconds   *int     `json:"minPodLifetimeSeconds"`
	Reasons                 []string `json:"reasons"`
	ExitCodes               []int    `json:"exitCodes"`
	IncludingInitContainers bool     `json:"includingInitContainers"`
}
