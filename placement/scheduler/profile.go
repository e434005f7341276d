package scheduler

import (
	corev1 "k8s.io/api/core/v1"
)

// Profile describes how one scheduler filters and scores: the settings of one profile of its
// KubeSchedulerConfiguration. Start from DefaultProfile: the zero value enables every filter and no
// score.
type Profile struct {
	// UnsupportedReason says why no placement can be predicted for this scheduler's pods, such as
	// an unsupported plugin; empty if it can.
	UnsupportedReason string
	// Weights are the weights of the score plugins. A plugin with weight 0 does not score.
	Weights Weights
	// DisabledFilters are the filters that the scheduler does not run.
	DisabledFilters []Filter
	// If SystemDefaultSpread is true, pods without spread constraints get the system's defaults
	// (defaultingType System). If SystemDefaultSpread is false, these pods get DefaultSpread
	// (defaultingType List), whose constraints have no selectors.
	SystemDefaultSpread bool
	DefaultSpread       []corev1.TopologySpreadConstraint
	// FitStrategy is the scoring strategy of NodeResourcesFit. The zero value is LeastAllocated
	// over CPU and memory.
	FitStrategy ScoringStrategy
	// BalancedResources are the resources that NodeResourcesBalancedAllocation balances; empty: CPU
	// and memory.
	BalancedResources []corev1.ResourceName
	// IgnoredResources are extended resources that the filter NodeResourcesFit ignores.
	// IgnoredGroups are prefixes of ignored resources: the part before the slash.
	IgnoredResources, IgnoredGroups []string
	// AddedAffinity is node affinity that every pod gets in addition to its own.
	AddedAffinity *corev1.NodeAffinity
	// HardPodAffinityWeight is the score weight, from 0 to 100, of the required affinity terms of
	// pods on nodes that match the new pod.
	HardPodAffinityWeight int64
	// If IgnorePreferredTerms is true, InterPodAffinity does not score pods without preferred terms
	// of their own.
	IgnorePreferredTerms bool
	// PercentageOfNodesToScore is the number of feasible nodes at which the scheduler stops
	// searching, in percent of all nodes; 0: the scheduler's default, which depends on the number
	// of nodes.
	PercentageOfNodesToScore int
	// Packing enables the score plugin TargetLoadPacking; nil: disabled.
	Packing *TargetLoadPacking
	// RiskBalancing enables the score plugin LoadVariationRiskBalancing; nil: disabled.
	RiskBalancing *LoadVariationRiskBalancing
	// LowRisk enables the score plugin LowRiskOverCommitment; nil: disabled.
	LowRisk *LowRiskOverCommitment
}

// DefaultProfile returns the profile of a kube-scheduler without configuration.
func DefaultProfile() Profile {
	return Profile{Weights: defaultWeights, SystemDefaultSpread: true, HardPodAffinityWeight: 1}
}

// ScoresUsage reports whether a score plugin of the profile reads the measured usage of nodes.
func (p *Profile) ScoresUsage() bool { return p.Packing != nil || p.ScoresRisk() }

// ScoresRisk reports whether a score plugin of the profile reads the mean and the deviation of usage.
func (p *Profile) ScoresRisk() bool { return p.RiskBalancing != nil || p.LowRisk != nil }

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

// IsDefault reports whether the strategy is LeastAllocated over CPU and memory with equal weights.
func (s *ScoringStrategy) IsDefault() bool {
	return (s.Type == "" || s.Type == LeastAllocated) && len(s.Resources) == 0
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

// These are the names of trimaran's score plugins.
const (
	PackingName       = "TargetLoadPacking"
	RiskBalancingName = "LoadVariationRiskBalancing"
	LowRiskName       = "LowRiskOverCommitment"
)

// TargetLoadPacking holds the arguments of trimaran's plugin TargetLoadPacking. Nodes get the
// highest score when their CPU utilization is at the target.
type TargetLoadPacking struct {
	Weight int64
	// Target is the preferred CPU utilization, in percent of the node's capacity.
	Target int64
	// DefaultMilliCPU is the expected usage of a container without request and limit. A container
	// with only a request is expected to use Factor times its request.
	DefaultMilliCPU int64
	Factor          float64
}

// DefaultPacking returns the plugin's default arguments.
func DefaultPacking() TargetLoadPacking {
	return TargetLoadPacking{Weight: 1, Target: 40, DefaultMilliCPU: 1000, Factor: 1.5}
}

// LoadVariationRiskBalancing holds the arguments of trimaran's plugin of this name. It prefers nodes whose usage is low
// and varies little: the risk is the mean plus Margin x deviation^(1/Sensitivity).
type LoadVariationRiskBalancing struct {
	Weight              int64
	Margin, Sensitivity float64
}

// DefaultRiskBalancing returns the plugin's default arguments.
func DefaultRiskBalancing() LoadVariationRiskBalancing {
	return LoadVariationRiskBalancing{Weight: 1, Margin: 1, Sensitivity: 1}
}

// LowRiskOverCommitment holds the arguments of trimaran's plugin of this name. It prefers nodes whose limits and whose
// usage exceed the allocated resources with a low risk.
type LowRiskOverCommitment struct {
	Weight int64
	// SmoothingWindows is the number of windows over which the usage is smoothed, which widens the deviation.
	SmoothingWindows int64
	// CPULimitWeight and MemoryLimitWeight are the shares of the risk by limits, from 0 to 1. The
	// rest is the risk by usage.
	CPULimitWeight, MemoryLimitWeight float64
}

// DefaultLowRisk returns the plugin's default arguments.
func DefaultLowRisk() LowRiskOverCommitment {
	return LowRiskOverCommitment{Weight: 1, SmoothingWindows: 5, CPULimitWeight: 0.5, MemoryLimitWeight: 0.5}
}
