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
