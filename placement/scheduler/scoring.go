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

// ScoringStrategy is the scoring strategy of NodeResourcesFit. The zero value is LeastAllocated
// over CPU and memory.
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

// ShapePoint is one point of a scoring function. Utilization is a percentage, Score is from 0 to
// 10. The function is linear between points and constant outside them.
type ShapePoint struct{ Utilization, Score int64 }

// coreResources are CPU and memory with the same weight.
var coreResources = []ResourceWeight{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

// IsDefault reports whether the strategy is LeastAllocated over CPU and memory with equal weights.
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

// MaxScore is the highest score of a plugin, before its weight.
const MaxScore = 100

// Weights are the weights of the score plugins. A plugin with weight 0 does not score.
type Weights struct {
	TaintToleration    int64
	NodeAffinity       int64
	PodTopologySpread  int64
	InterPodAffinity   int64
	ResourcesFit       int64
	BalancedAllocation int64
	ImageLocality      int64
	VolumeBinding      int64
}

// defaultWeights are the weights of the default profile (kube-scheduler apis/config/v1,
// getDefaultPlugins).
var defaultWeights = Weights{
	TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
	ResourcesFit: 1, BalancedAllocation: 1, ImageLocality: 1, VolumeBinding: 1,
}

// ScorePlugins returns a pointer to each weight, by the scheduler's name of the plugin.
func (w *Weights) ScorePlugins() map[string]*int64 {
	return map[string]*int64{
		"TaintToleration": &w.TaintToleration, "NodeAffinity": &w.NodeAffinity,
		"PodTopologySpread": &w.PodTopologySpread, "InterPodAffinity": &w.InterPodAffinity,
		"NodeResourcesFit": &w.ResourcesFit, "NodeResourcesBalancedAllocation": &w.BalancedAllocation,
		"ImageLocality": &w.ImageLocality, "VolumeBinding": &w.VolumeBinding,
	}
}
