package scheduler

import (
	"fmt"
	"slices"
)

// MaxLegacyScore is the highest score of a legacy priority function, before its weight.
const MaxLegacyScore = 10

// LegacyPolicy holds the scores of a scheduler that follows a legacy Policy, as kube-scheduler did before
// 1.23. A node's total is the sum of weight times score over the functions, where each score is an
// integer from 0 to 10. The scheduler breaks ties at random.
type LegacyPolicy struct {
	Priorities []PriorityFunction
	// HardPodAffinityWeight is hardPodAffinitySymmetricWeight, 0..100.
	HardPodAffinityWeight int64
}

// PriorityFunction is one priority function of a Policy. Name must be a supported function without
// arguments, unless one of the labels is set.
type PriorityFunction struct {
	Name   string
	Weight int64
	// AntiAffinityLabel turns the function into serviceAntiAffinity over this node label.
	AntiAffinityLabel string
	// PreferLabel turns the function into labelPreference: nodes with this label get 10, other
	// nodes 0. PreferAbsent swaps the two scores.
	PreferLabel  string
	PreferAbsent bool
}

// policyFunctionNames are the supported priority functions without arguments. The first seven
// functions are the default.
var policyFunctionNames = []string{
	"SelectorSpreadPriority", "InterPodAffinityPriority", "LeastRequestedPriority", "BalancedResourceAllocation",
	"NodePreferAvoidPodsPriority", "NodeAffinityPriority", "TaintTolerationPriority", "MostRequestedPriority", "EqualPriority",
}

// DefaultLegacyPolicy returns the scores of a scheduler without a Policy: weight 10000 for
// NodePreferAvoidPodsPriority, weight 1 for every other default function.
func DefaultLegacyPolicy() LegacyPolicy {
	p := LegacyPolicy{HardPodAffinityWeight: 1}
	for _, f := range policyFunctionNames[:7] {
		weight := int64(1)
		if f == "NodePreferAvoidPodsPriority" {
			weight = 10000
		}
		p.Priorities = append(p.Priorities, PriorityFunction{Name: f, Weight: weight})
	}
	return p
}

// unsupportedReason names the first unsupported priority function; empty if all are supported.
func (p *LegacyPolicy) unsupportedReason() string {
	for _, f := range p.Priorities {
		if f.AntiAffinityLabel == "" && f.PreferLabel == "" && !slices.Contains(policyFunctionNames, f.Name) {
			return fmt.Sprintf("its priority function %s is not supported", f.Name)
		}
	}
	return ""
}
