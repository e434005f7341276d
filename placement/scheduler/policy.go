package scheduler

import (
	"fmt"
	"slices"
)

// MaxPolicyScore is what the best node of a legacy priority function gets
// before the weight.
const MaxPolicyScore = 10

// Policy are the scores of a scheduler that follows a legacy Policy, as
// kube-scheduler did before 1.23: the sum of weight times f over its functions,
// each f an integer of 0..10. Ties are broken at random.
type Policy struct {
	Priorities []PriorityFunction
	// HardPodAffinityWeight is hardPodAffinitySymmetricWeight, 0..100.
	HardPodAffinityWeight int64
}

// PriorityFunction is one priority function of a Policy. Name is one of the functions
// without arguments that are known, or any other where one of the labels is set.
type PriorityFunction struct {
	Name   string
	Weight int64
	// AntiAffinityLabel makes it serviceAntiAffinity over this node label.
	AntiAffinityLabel string
	// PreferLabel makes it labelPreference: nodes with this label get 10, others
	// 0; with PreferAbsent the reverse.
	PreferLabel  string
	PreferAbsent bool
}

// policyFunctionNames are the priority functions without arguments that are
// modelled. The first seven are the default.
var policyFunctionNames = []string{
	"SelectorSpreadPriority", "InterPodAffinityPriority", "LeastRequestedPriority", "BalancedResourceAllocation",
	"NodePreferAvoidPodsPriority", "NodeAffinityPriority", "TaintTolerationPriority", "MostRequestedPriority", "EqualPriority",
}

// DefaultPolicy is what applied without a Policy: weight 1 for everything, but
// 10000 for NodePreferAvoidPodsPriority.
func DefaultPolicy() Policy {
	p := Policy{HardPodAffinityWeight: 1}
	for _, f := range policyFunctionNames[:7] {
		weight := int64(1)
		if f == "NodePreferAvoidPodsPriority" {
			weight = 10000
		}
		p.Priorities = append(p.Priorities, PriorityFunction{Name: f, Weight: weight})
	}
	return p
}

// unsupportedReason names the function that is not modelled; empty if there is none.
func (p *Policy) unsupportedReason() string {
	for _, f := range p.Priorities {
		if f.AntiAffinityLabel == "" && f.PreferLabel == "" && !slices.Contains(policyFunctionNames, f.Name) {
			return fmt.Sprintf("its priority function %s is not modelled", f.Name)
		}
	}
	return ""
}

// PolicyProfile is the default profile with the scores of a legacy Policy.
func PolicyProfile(policy Policy) Profile {
	p := DefaultProfile()
	p.Policy, p.SystemDefaultSpread = &policy, false
	p.HardPodAffinityWeight = policy.HardPodAffinityWeight
	return p
}
