package scheduler

import corev1 "k8s.io/api/core/v1"

// Profile is how one scheduler filters and scores: what a profile of its
// KubeSchedulerConfiguration sets. Start from DefaultProfile: in the zero value
// every filter is on and nothing scores.
type Profile struct {
	// UnsupportedReason says why nothing can be foretold for this scheduler's pods, such
	// as a plugin that is not modelled; empty when it can.
	UnsupportedReason string
	// Weights of the score plugins; one with weight 0 does not score.
	Weights Weights
	// DisabledFilters are filters that are not asked.
	DisabledFilters []Filter
	// SystemDefaultSpread: pods without spread constraints of their own get the
	// system's (defaultingType System); else they get DefaultSpread, whose
	// constraints have no selectors (defaultingType List).
	SystemDefaultSpread bool
	DefaultSpread       []corev1.TopologySpreadConstraint
	// FitStrategy is the strategy by which NodeResourcesFit scores; the zero value is
	// LeastAllocated over cpu and memory.
	FitStrategy ScoringStrategy
	// BalancedResources are the resources that NodeResourcesBalancedAllocation balances;
	// empty: cpu and memory.
	BalancedResources []corev1.ResourceName
	// IgnoredResources and IgnoredGroups (the part before the slash) are extended
	// resources that the filter NodeResourcesFit does not ask for.
	IgnoredResources, IgnoredGroups []string
	// AddedAffinity is asked of nodes besides each pod's own node affinity.
	AddedAffinity *corev1.NodeAffinity
	// HardPodAffinityWeight is what a required affinity term of a standing pod
	// adds to a newcomer that it matches, 0..100.
	HardPodAffinityWeight int64
	// IgnorePreferredTerms: InterPodAffinity does not score pods that have no
	// preferred terms of their own.
	IgnorePreferredTerms bool
	// PercentageOfNodesToScore is how many feasible nodes are looked for before
	// the search ends, in percent of all nodes; 0: by the number of nodes.
	PercentageOfNodesToScore int
	// Packing adds the score TargetLoadPacking; nil for none.
	Packing *TargetLoadPacking
	// Policy replaces every other score by those of a legacy Policy; nil for
	// none. Filters are as in any profile.
	Policy *Policy
}

// DefaultProfile is the profile of a kube-scheduler that is not configured.
func DefaultProfile() Profile {
	return Profile{Weights: DefaultWeights, SystemDefaultSpread: true, HardPodAffinityWeight: 1}
}

// MostAllocatedProfile is the default profile, preferring full nodes.
func MostAllocatedProfile() Profile {
	p := DefaultProfile()
	p.FitStrategy.Type = MostAllocated
	return p
}
