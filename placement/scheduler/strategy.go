package scheduler

import (
	corev1 "k8s.io/api/core/v1"
)

// StrategyType is the type of a scoring strategy of NodeResourcesFit.
type StrategyType string

const (
	LeastAllocated           StrategyType = "LeastAllocated"
	MostAllocated            StrategyType = "MostAllocated"
	RequestedToCapacityRatio StrategyType = "RequestedToCapacityRatio"
)

// ScoringStrategy is the scoring strategy of NodeResourcesFit. The zero value is
// LeastAllocated over CPU and memory.
type ScoringStrategy struct {
	Type      StrategyType
	Resources []ResourceWeight // empty: cpu and memory, weight 1 each
	// Shape is the scoring function of RequestedToCapacityRatio, sorted by utilization.
	Shape []ShapePoint
}

// ResourceWeight is a resource with its weight, from 1 to 100.
type ResourceWeight struct {
	Name   corev1.ResourceName
	Weight int64
}

// ShapePoint is one point of a scoring function. Utilization is a percentage, Score is
// from 0 to 10. The function is linear between points and constant outside them.
type ShapePoint struct{ Utilization, Score int64 }

// coreResources are CPU and memory with the same weight.
var coreResources = []ResourceWeight{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

// IsDefault reports whether the strategy is LeastAllocated over CPU and memory with
// equal weights.
func (s *ScoringStrategy) IsDefault() bool {
	return (s.Type == "" || s.Type == LeastAllocated) && len(s.Resources) == 0
}

// ResourcesOrDefault returns the scored resources; CPU and memory if none are set.
func (s *ScoringStrategy) ResourcesOrDefault() []ResourceWeight {
	if len(s.Resources) == 0 {
		return coreResources
	}
	return s.Resources
}
