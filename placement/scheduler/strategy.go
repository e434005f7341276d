package scheduler

import (
	corev1 "k8s.io/api/core/v1"
)

// StrategyType names how NodeResourcesFit scores.
type StrategyType string

const (
	LeastAllocated           StrategyType = "LeastAllocated"
	MostAllocated            StrategyType = "MostAllocated"
	RequestedToCapacityRatio StrategyType = "RequestedToCapacityRatio"
)

// ScoringStrategy is how NodeResourcesFit scores. The zero value is
// LeastAllocated over cpu and memory.
type ScoringStrategy struct {
	Type      StrategyType
	Resources []ResourceWeight // empty: cpu and memory, weight 1 each
	// Shape is the function of RequestedToCapacityRatio, by rising utilization.
	Shape []ShapePoint
}

// ResourceWeight is a resource with its weight, 1..100.
type ResourceWeight struct {
	Name   corev1.ResourceName
	Weight int64
}

// ShapePoint is one point of a function of the utilization in percent; Score is
// 0..10. Between points it is linear, beyond them level.
type ShapePoint struct{ Utilization, Score int64 }

// coreResources are cpu and memory alone.
var coreResources = []ResourceWeight{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

// IsDefault reports whether it is LeastAllocated over cpu and memory alike.
func (s *ScoringStrategy) IsDefault() bool {
	return (s.Type == "" || s.Type == LeastAllocated) && len(s.Resources) == 0
}

func (s *ScoringStrategy) ResourcesOrDefault() []ResourceWeight {
	if len(s.Resources) == 0 {
		return coreResources
	}
	return s.Resources
}
